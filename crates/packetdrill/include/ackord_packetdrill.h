/*
 * What libackord_packetdrill.so exports: a TCP endpoint behind the socket calls, in virtual time.
 *
 * packetdrill_interface_init fills a structure of functions. Each takes the structure's `userdata`
 * first and is otherwise the system call it is named after, with its result and errno. The order of
 * the members is the one in which packetdrill (https://github.com/google/packetdrill) expects them
 * of a library given by --so_filename.
 *
 * Time passes in usleep, in netdev_receive and in calls that block, and nowhere else. Calls that
 * block are made from a second thread. See docs/packetdrill.md.
 */
#ifndef ACKORD_PACKETDRILL_H
#define ACKORD_PACKETDRILL_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct packetdrill_interface {
    void *userdata;
    /* Ends everything; calls that still wait return -1 with ECANCELED first. */
    void (*free)(void *userdata);
    int (*socket)(void *userdata, int domain, int type, int protocol);
    int (*bind)(void *userdata, int fd, const struct sockaddr *address, socklen_t len);
    int (*listen)(void *userdata, int fd, int backlog);
    int (*accept)(void *userdata, int fd, struct sockaddr *peer, socklen_t *len);
    int (*connect)(void *userdata, int fd, const struct sockaddr *address, socklen_t len);
    ssize_t (*read)(void *userdata, int fd, void *buffer, size_t len);
    ssize_t (*readv)(void *userdata, int fd, const struct iovec *pieces, int count);
    ssize_t (*recv)(void *userdata, int fd, void *buffer, size_t len, int flags);
    ssize_t (*recvfrom)(void *userdata, int fd, void *buffer, size_t len, int flags,
                        struct sockaddr *from, socklen_t *from_len);
    ssize_t (*recvmsg)(void *userdata, int fd, struct msghdr *message, int flags);
    ssize_t (*write)(void *userdata, int fd, const void *buffer, size_t len);
    ssize_t (*writev)(void *userdata, int fd, const struct iovec *pieces, int count);
    ssize_t (*send)(void *userdata, int fd, const void *buffer, size_t len, int flags);
    ssize_t (*sendto)(void *userdata, int fd, const void *buffer, size_t len, int flags,
                      const struct sockaddr *to, socklen_t to_len);
    ssize_t (*sendmsg)(void *userdata, int fd, const struct msghdr *message, int flags);
    int (*fcntl)(void *userdata, int fd, int command, ...);
    int (*ioctl)(void *userdata, int fd, unsigned long request, ...);
    int (*close)(void *userdata, int fd);
    int (*shutdown)(void *userdata, int fd, int how);
    int (*getsockopt)(void *userdata, int fd, int level, int name, void *value, socklen_t *len);
    int (*setsockopt)(void *userdata, int fd, int level, int name, const void *value,
                      socklen_t len);
    int (*poll)(void *userdata, struct pollfd *entries, nfds_t count, int timeout_ms);
    /* A packet, from its IP header on, arrives at the stack. 0; -1 if there is none. */
    int (*netdev_send)(void *userdata, const void *packet, size_t len);
    /*
     * The next packet that leaves the stack, from its IP header on; waits for it in virtual time.
     * *len is the room there is, then the octets that were written; *time_usecs when it left, on
     * the clock of gettimeofday. 0; or -1 with *len 0 and ETIMEDOUT when none will ever leave
     * unless somebody does something, and, when asked once more, 0 with *len 0.
     */
    int (*netdev_receive)(void *userdata, void *packet, size_t *len, long long *time_usecs);
    int (*usleep)(void *userdata, useconds_t micros);
    int (*gettimeofday)(void *userdata, struct timeval *time, struct timezone *zone);
    int (*epoll_create)(void *userdata, int size);
    int (*epoll_ctl)(void *userdata, int epoll, int operation, int fd, struct epoll_event *event);
    int (*epoll_wait)(void *userdata, int epoll, struct epoll_event *events, int most,
                      int timeout_ms);
    int (*pipe)(void *userdata, int ends[2]);
    ssize_t (*splice)(void *userdata, int from, loff_t *from_offset, int to, loff_t *to_offset,
                      size_t len, unsigned int flags);
};

/*
 * Opens a stack as `flags` say ("profile=linux,cc=reno"; null or empty for the default) and fills
 * `interface`. 0; or -1 with a message on stderr that names the nearest valid word, and then every
 * function in `interface` fails with EINVAL.
 */
int packetdrill_interface_init(const char *flags, struct packetdrill_interface *interface);

#ifdef __cplusplus
}
#endif

#endif
