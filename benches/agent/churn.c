/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Short connections of plain C on both ends, for `churn.py`: one request and one answer on each.
 *
 *   churn serve PORT            accepts, reads a request, writes an answer and closes, until it is killed
 *   churn connect PORT COUNT    makes that many connections, one after another
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST 100
#define ANSWER 1000

static void check(int is_ok, const char *what)
{
	if (is_ok)
		return;
	perror(what);
	exit(1);
}

static void serve(const struct sockaddr_in *address)
{
	static char buffer[ANSWER];
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	check(listener >= 0, "socket");
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	check(!bind(listener, (const void *)address, sizeof(*address)), "bind");
	check(!listen(listener, 128), "listen");
	for (;;) {
		int one = accept(listener, NULL, NULL);

		check(one >= 0, "accept");
		if (read(one, buffer, REQUEST) == REQUEST)
			check(write(one, buffer, ANSWER) == ANSWER, "write");
		close(one);
	}
}

static void connect_often(const struct sockaddr_in *address, long count)
{
	static char buffer[ANSWER];

	while (count-- > 0) {
		int one = socket(AF_INET, SOCK_STREAM, 0);

		check(one >= 0, "socket");
		check(!connect(one, (const void *)address, sizeof(*address)), "connect");
		check(write(one, buffer, REQUEST) == REQUEST, "write");
		/* Until the server closes: the connection waits in TIME_WAIT at its end, and takes no port of this one. */
		while (read(one, buffer, ANSWER) > 0)
			;
		close(one);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	if (argc < 3)
		return 2;
	address.sin_port = htons(atoi(argv[2]));
	if (!strcmp(argv[1], "serve"))
		serve(&address);
	else
		connect_often(&address, argc > 3 ? atol(argv[3]) : 1);
	return 0;
}
