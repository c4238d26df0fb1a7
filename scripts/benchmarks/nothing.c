// The lower limit for the start-up time: a program that exits at once.
int main(void) { return 0; }
