// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.session;

import io.kiln.base.Bytes;
import io.kiln.device.rpc.session.SessionMessage.MessageType;
import io.kiln.device.transport.Frames;
import java.io.ByteArrayOutputStream;
import java.util.Optional;

/**
 * One side of a session, without clock and line: it takes payloads of frames, says what there is to deliver, and gives bytes for the wire
 * to a sink. The id of a session is made of a nonce of each side; a message with another id is dropped. Not thread-safe.
 */
public final class Session {
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

    /** The state now. */
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
