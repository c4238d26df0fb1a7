// The limit of start-up: a program that exits at once.
int main(void) { return 0; }
