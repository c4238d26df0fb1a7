-- The tests of one shard: the customers whose ID modulo 6 is the shard. The shard drops and creates
-- its own schema, so it can be retried and can run in parallel with the others.
set client_min_messages = warning;
select set_config('test.shard', :'shard', false) \g /dev/null
drop schema if exists :schema cascade;
create schema :schema;
set search_path = :schema, public;
create table mine as select id from customers where id % 6 = :shard % 6;

do $$ begin
  assert (select count(*) from mine) = 200, 'a shard has 200 customers';
end $$;
\echo each customer has a shard

do $$
declare
  one record;
begin
  for one in select id from mine loop
    assert (select cents from totals where customer = one.id)
      = (select sum(cents) from orders where customer = one.id),
      'the total of customer ' || one.id;
  end loop;
end $$;
\echo the totals match the orders

do $$ begin
  insert into orders values (0, 0, 100);
  raise 'an order without a customer was accepted';
exception
  when foreign_key_violation then null;
end $$;
\echo an order needs a customer

do $$ begin
  insert into orders values (-current_setting('test.shard')::int, 1, 0);
  raise 'an order of 0 cents was accepted';
exception
  when check_violation then null;
end $$;
\echo an order needs a price

begin;
insert into orders select -id, id, 100 from mine;
rollback;
do $$ begin
  assert not exists (select from orders join mine on orders.id = -mine.id), 'a rolled-back order exists';
end $$;
\echo a rollback removes the orders
