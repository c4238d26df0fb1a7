insert into customers select n, 'customer ' || n from generate_series(1, 1200) n;

insert into orders
select n, 1 + n * 7919 % 1200, 100 + n * 31 % 9000 from generate_series(1, 12000) n;
