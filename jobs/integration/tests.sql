-- What a shard tests, with those customers whose number leaves the shard's remainder. It works in a schema of its own,
-- made anew, so that it may be tried again, and beside the other shards.
set client_min_messages = warning;
select set_config('test.shard', :'shard', false) \g /dev/null
drop schema if exists :schema cascade;
create schema :schema;
set search_path = :schema, public;
create table mine as select id from customers where id % 6 = :shard % 6;

do $$ begin
  assert (select count(*) from mine) = 200, 'a shard has 200 customers';
end $$;
\echo each customer has a place

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
\echo totals are those of the orders

do $$ begin
  insert into orders values (0, 0, 100);
  raise 'an order of nobody was taken';
exception
  when foreign_key_violation then null;
end $$;
\echo nobody orders for nobody

do $$ begin
  insert into orders values (-current_setting('test.shard')::int, 1, 0);
  raise 'an order of nothing was taken';
exception
  when check_violation then null;
end $$;
\echo nothing costs nothing

begin;
insert into orders select -id, id, 100 from mine;
rollback;
do $$ begin
  assert not exists (select from orders join mine on orders.id = -mine.id), 'what was undone is there';
end $$;
\echo what is undone was never there
