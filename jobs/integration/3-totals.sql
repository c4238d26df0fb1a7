create index orders_of on orders (customer);

create view totals as
select customer, count(*) as orders, sum(cents) as cents from orders group by customer;
