// The limit of start-up: a program that ends at once.
int main(void) { return 0; }
