// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.device.protocol.ImageEnd;
import io.kiln.device.rpc.packet.PacketReader;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.rpc.session.Session;
import io.kiln.device.rpc.session.Session.Nonce;
import io.kiln.device.rpc.session.Session.State;
import io.kiln.device.rpc.session.SessionMessage;
import io.kiln.device.rpc.session.SessionMessage.MessageType;
import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.TimedBytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A session over a line, with its time limits: one request, then one reply. After a failure of the line or of the session nothing is sent
 * any more, because a late reply could be taken for the answer to something else.
 */
final class Connection implements AutoCloseable {
    /** Bytes of a reply that carries no data of a tensor. */
    private static final int MOST_REPLY = 1 << 20;

    private static final int LARGEST_NONCE = 255;
    private static final int MOST_LOG = 1023;
    private static final String LOG = "remote: ";

    private final FrameReader in;
    private final OutputStream out;
    private final TransportTimeouts timeouts;
    private final Consumer<String> log;
    private final Session session = new Session(this::write);
    private Optional<RpcException> failure = Optional.empty();
    private int terminated;
    private final Set<Integer> sentNonces = new HashSet<>();

    /**
     * A connection that has sent nothing yet.
     *
     * @param in what the board sends; closed with this
     * @param out what the board receives
     * @param log gets each log line of the board, with {@code remote: } before it
     */
    Connection(FrameReader in, OutputStream out, TransportTimeouts timeouts, Consumer<String> log) {
        this.in = in;
        this.out = out;
        this.timeouts = timeouts;
        this.log = log;
        in.expect(MOST_REPLY);
    }

    /**
     * Agrees on a session. Every attempt begins with a new nonce; a board that says that it has just started is asked again at once.
     *
     * @param nonces gives random numbers from 1 to 255
     * @throws RpcException if no session comes about in time
     */
    void connect(IntSupplier nonces) {
        forgetWhatCame();
        long giveUp = TransportTimeouts.deadline(in.now(), timeouts.sessionStart());
        while (session.state() != State.SESSION_ESTABLISHED) {
            session.initialize(nextNonce(nonces));
            session.startSession();
            long retry = TransportTimeouts.deadline(in.now(), timeouts.sessionStartRetry());
            awaitSession(retry - giveUp < 0 ? retry : giveUp);
            if (session.state() != State.SESSION_ESTABLISHED && in.now() - giveUp >= 0) {
                throw startTimeout();
            }
        }
    }

    /** A nonce that differs from those of all attempts before: a late reply to one of them must not count as a reply to this one. */
    private int nextNonce(IntSupplier nonces) {
        int next = nonces.getAsInt();
        for (int i = 0; i < LARGEST_NONCE && !sentNonces.add(Nonce.after(next)); i++) {
            next = next % LARGEST_NONCE + 1;
        }
        return next;
    }

    /** Waits until there is a session, the time is over, or the board has started again. */
    private void awaitSession(long deadline) {
        int before = terminated;
        while (session.state() != State.SESSION_ESTABLISHED && terminated == before) {
            int value = next(deadline);
            if (value == TimedBytes.LATE) {
                return;
            }
            in.take(value).ifPresent(this::handle);
        }
    }

    /** Drops everything that a board sent before the host asked: it belongs to no session. */
    private void forgetWhatCame() {
        long now = in.now();
        for (int value = in.next(now); value >= 0; value = in.next(now)) {
            in.take(value).ifPresent(this::endsProgram);
        }
    }

    /**
     * Sends a packet and waits for its reply.
     *
     * @param packet with its length
     * @param mostData bytes that the reply's data may have, if it carries a tensor's; else 0
     * @return the reply's packet
     * @throws RpcException if no reply comes in time, the session ends, or the line breaks
     */
    Bytes exchange(Bytes packet, int mostData) {
        send(packet);
        in.expect(MOST_REPLY + mostData);
        long deadline = TransportTimeouts.deadline(in.now(), timeouts.sessionEstablished());
        while (true) {
            int value = next(deadline);
            if (value == TimedBytes.LATE) {
                throw broken(replyTimeout());
            }
            Optional<Bytes> reply = in.take(value).flatMap(this::handle);
            if (reply.isPresent()) {
                return reply.get();
            }
        }
    }

    /**
     * Sends a packet that has no reply.
     *
     * @throws RpcException if something came that nobody asked for, the session ended, or the line broke
     */
    void send(Bytes packet) {
        failure.ifPresent(first -> {
            throw over(first);
        });
        long now = in.now();
        for (int value = in.next(now); value >= 0; value = in.next(now)) {
            if (in.take(value).flatMap(this::handle).isPresent()) {
                throw broken(
                        RpcException.malformed("the board sent a reply that nobody asked for", "one to each request"));
            }
        }
        session.sendNormal(packet);
    }

    /** Waits for the frame in which a program says that it ends, or for the end of the line, or until the time is over. */
    Optional<ImageEnd> awaitEnd(Duration time) {
        long deadline = in.now() + time.toNanos();
        for (int value = in.next(deadline); value >= 0; value = in.next(deadline)) {
            Optional<ImageEnd> end = in.take(value).flatMap(ImageEnd::in);
            if (end.isPresent()) {
                return end;
            }
        }
        return Optional.empty();
    }

    /** Takes a frame; the packet in it, if it holds one of this session. */
    private Optional<Bytes> handle(Bytes payload) {
        endsProgram(payload);
        countTerminations(payload);
        Optional<SessionMessage> message = session.accept(payload);
        if (message.isEmpty()) {
            return Optional.empty();
        }
        switch (message.get().type()) {
            case LOG -> log(message.get().body());
            case TERMINATE_SESSION -> throw broken(terminated("remote device terminated connection"));
            case START_SESSION_INIT, START_SESSION_REPLY -> terminated = 0;
            case NORMAL -> {
                return message.map(SessionMessage::body).filter(packet -> !PacketReader.isEmpty(packet));
            }
        }
        return Optional.empty();
    }

    /** Ends the session if a program says that it ends with a fault or an error of its own: it answers nothing any more. */
    private void endsProgram(Bytes payload) {
        ImageEnd.in(payload).ifPresent(end -> {
            throw broken(new RpcException(
                    Kind.LINE_CLOSED,
                    Failure.RPC.problem(
                            "the image ended with code " + end.code(),
                            RpcException.WHERE,
                            "that it goes on",
                            in.printed())));
        });
    }

    private void countTerminations(Bytes payload) {
        boolean isTermination = SessionMessage.read(payload)
                .filter(message -> message.type() == MessageType.TERMINATE_SESSION)
                .isPresent();
        if (isTermination && session.state() == State.START_SESSION_SENT) {
            terminated++;
            if (terminated > 1) {
                throw broken(terminated("multiple session-terminated messages received; device in reboot loop?"));
            }
        }
    }

    private void log(Bytes text) {
        byte[] bytes = text.toArray();
        byte[] shown = Arrays.copyOf(bytes, Math.min(bytes.length, MOST_LOG));
        log.accept(LOG + new String(shown, StandardCharsets.UTF_8));
    }

    private int next(long deadline) {
        int value = in.next(deadline);
        if (value == TimedBytes.LATE && Thread.currentThread().isInterrupted()) {
            throw broken(new RpcException(
                    Kind.INTERRUPTED, Failure.COMPUTER.problem("the build was interrupted", RpcException.WHERE)));
        }
        if (value == TimedBytes.END) {
            throw broken(new RpcException(
                    Kind.LINE_CLOSED,
                    Failure.RPC.problem(
                            "the image ended, or the line went away", RpcException.WHERE, "a reply", in.printed())));
        }
        return value;
    }

    private void write(byte[] bytes) {
        try {
            out.write(bytes);
            out.flush();
        } catch (IOException e) {
            RpcException closed = new RpcException(
                    Kind.LINE_CLOSED,
                    Failure.RPC.problem("the image does not listen any more", RpcException.WHERE, "", in.printed()));
            closed.initCause(e);
            throw broken(closed);
        }
    }

    private RpcException broken(RpcException why) {
        failure = Optional.of(failure.orElse(why));
        return why;
    }

    private RpcException startTimeout() {
        return broken(new RpcException(
                Kind.SESSION_START_TIMEOUT,
                Failure.RPC.problem(
                        "MicroSessionTimeoutError: session start handshake failed after "
                                + TransportTimeouts.text(timeouts.sessionStart()),
                        RpcException.WHERE,
                        "a program with microTVM's RPC server, as kiln.application=rpc builds it",
                        in.printed())));
    }

    private RpcException replyTimeout() {
        return new RpcException(
                Kind.REPLY_TIMEOUT,
                Failure.RPC.problem(
                        "MicroSessionTimeoutError: failed to read reply message after timeout "
                                + TransportTimeouts.text(timeouts.sessionEstablished()),
                        RpcException.WHERE,
                        "",
                        in.printed()));
    }

    private RpcException terminated(String what) {
        return new RpcException(
                Kind.SESSION_TERMINATED,
                Failure.RPC.problem("SessionTerminatedError: " + what, RpcException.WHERE, "", in.printed()));
    }

    private static RpcException over(RpcException first) {
        return new RpcException(
                Kind.OVER,
                Failure.RPC.problem(
                        "the session is over since an earlier failure",
                        RpcException.WHERE,
                        "",
                        "Connect again. It was: " + first.problems().get(0).what()));
    }

    @Override
    public void close() {
        in.close();
    }
}
