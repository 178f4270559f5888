// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.ImageEnd;
import io.kiln.device.rpc.client.Connection.Session.Nonce;
import io.kiln.device.rpc.client.Connection.Session.State;
import io.kiln.device.rpc.client.SessionMessage.MessageType;
import io.kiln.device.rpc.packet.PacketReader;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcException.Kind;
import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.FrameReader.Frames;
import io.kiln.device.transport.TimedBytes;
import java.io.ByteArrayOutputStream;
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

    /**
     * One side of a session, without clock and line: it takes payloads of frames, says what there is to deliver, and gives bytes for the wire
     * to a sink. The id of a session is made of a nonce of each side; a message with another id is dropped. Not thread-safe.
     */
    static final class Session {
        /** Version of the session protocol. */
        public static final int VERSION = 1;

        private static final int NOP = 0xFE;
        private static final Bytes VERSION_BODY = Bytes.copyOf(new byte[] {VERSION});
        private static final Bytes NO_BODY = Bytes.copyOf(new byte[0]);

        /** Whether there is a session, and how far it has come. */
        public enum State {
            /** Nothing was sent yet. */
            RESET,
            /** There is no session. */
            NO_SESSION_ESTABLISHED,
            /** This side asked for a session. */
            START_SESSION_SENT,
            /** There is a session. */
            SESSION_ESTABLISHED
        }

        /** Takes bytes for the other side. */
        @FunctionalInterface
        public interface Wire {
            /** Sends all of these bytes. */
            void send(byte[] bytes);
        }

        private final Wire wire;
        private State state = State.RESET;
        private boolean isNopDue = true;
        private int nonce;
        private int initiator;
        private int responder;

        /**
         * A side that has sent nothing yet.
         *
         * @param wire gets whole frames
         */
        public Session(Wire wire) {
            this.wire = wire;
        }

        public State state() {
            return state;
        }

        /**
         * Begins anew: forgets any session and tells the other side to do so. The frame is preceded by a filler, which ends what the
         * receiver may have half read.
         *
         * @param firstNonce from which the nonces of this side follow, 1 to 255
         */
        public void initialize(int firstNonce) {
            nonce = firstNonce;
            forget(State.NO_SESSION_ESTABLISHED);
            isNopDue = true;
            send(0, 0, MessageType.TERMINATE_SESSION, NO_BODY);
        }

        /** Asks the other side for a session. */
        public void startSession() {
            nonce = Nonce.after(nonce);
            initiator = nonce;
            responder = 0;
            state = State.START_SESSION_SENT;
            send(initiator, 0, MessageType.START_SESSION_INIT, VERSION_BODY);
        }

        /**
         * Sends an RPC packet.
         *
         * @throws IllegalStateException if there is no session
         */
        public void sendNormal(Bytes packet) {
            if (state != State.SESSION_ESTABLISHED) {
                throw new IllegalStateException("there is no session");
            }
            send(initiator, responder, MessageType.NORMAL, packet);
        }

        /** Sends a text for people; it needs no session. */
        public void sendLog(Bytes text) {
            send(0, 0, MessageType.LOG, text);
        }

        /**
         * Takes the payload of a frame.
         *
         * @return the message, if it changes whether there is a session, or is for the user of this session; empty if it was dropped
         */
        public Optional<SessionMessage> accept(Bytes payload) {
            return SessionMessage.read(payload).filter(message -> switch (message.type()) {
                case START_SESSION_INIT -> takesInit(message);
                case START_SESSION_REPLY -> takesReply(message);
                case TERMINATE_SESSION -> takesTerminate();
                case LOG -> (message.initiator() == 0 && message.responder() == 0) || isMine(message);
                case NORMAL -> state == State.SESSION_ESTABLISHED && isMine(message);
            });
        }

        private boolean isMine(SessionMessage message) {
            return message.initiator() == initiator && message.responder() == responder;
        }

        /**
         * Whether this side answers the other's request. When both sides ask at once, the one with the lower nonce is answered; with
         * equal nonces both ask again.
         */
        private boolean takesInit(SessionMessage message) {
            if (message.initiator() == 0 || message.body().size() == 0) {
                return false;
            }
            if (state == State.START_SESSION_SENT) {
                if (message.initiator() == nonce) {
                    startSession();
                    return false;
                }
                if (message.initiator() > nonce || message.body().get(0) != VERSION) {
                    return false;
                }
            }
            nonce = Nonce.after(nonce);
            initiator = message.initiator();
            responder = nonce;
            state = State.SESSION_ESTABLISHED;
            send(initiator, responder, MessageType.START_SESSION_REPLY, VERSION_BODY);
            return true;
        }

        private boolean takesReply(SessionMessage message) {
            if (message.responder() == 0
                    || state != State.START_SESSION_SENT
                    || message.initiator() != nonce
                    || message.body().size() == 0
                    || message.body().get(0) != VERSION) {
                return false;
            }
            responder = message.responder();
            state = State.SESSION_ESTABLISHED;
            return true;
        }

        private boolean takesTerminate() {
            if (state != State.SESSION_ESTABLISHED) {
                return false;
            }
            forget(State.NO_SESSION_ESTABLISHED);
            return true;
        }

        private void forget(State now) {
            initiator = 0;
            responder = 0;
            state = now;
        }

        private void send(int first, int second, MessageType type, Bytes body) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            if (isNopDue) {
                bytes.write(NOP);
            }
            bytes.writeBytes(Frames.encode(new SessionMessage(first, second, type, body).payload()));
            wire.send(bytes.toByteArray());
            isNopDue = false;
        }

        /** Nonces of a session: 8 bits, 0 is none. */
        public static final class Nonce {
            private static final int BITS = 0xFF;
            private static final int SHIFT = 5;

            private Nonce() {}

            /**
             * The nonce that a side takes for its next start or reply: {@code (n<<5 | n>>5) + 1} in 8 bits, and 1 in place of 0. Several nonces
             * have the same successor.
             */
            public static int after(int nonce) {
                int next = ((nonce << SHIFT | nonce >>> SHIFT) + 1) & BITS;
                return next == 0 ? 1 : next;
            }
        }
    }
}
