// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.Log;
import io.kiln.farm.link.FarmAddress.FarmStores.PeerCertificate;
import io.kiln.farm.link.FarmQueues;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.core.protocol.core.impl.ChannelImpl.CHANNEL_ID;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;
import org.apache.activemq.artemis.utils.DataConstants;

/**
 * Reads the heads of a connection's packets before the engine sees any byte of them, and ends the connection at the first one that no member
 * of a farm sends. A connection of the engine's own protocol begins with the letters {@code ARTEMIS}. A packet is a length of four bytes, which
 * does not count itself, a type of one byte, a channel of eight bytes, and a body.
 *
 * <p>The engine looks at a packet's type only after it has gathered and decoded all of it, and serves several types, those of clusters for example,
 * before it asks who sent them.
 */
final class PacketGuard extends ChannelInboundHandlerAdapter {
    /** Largest packet of those who have not proved yet who they are, and of members that send no message by it. */
    static final int STRANGER = 64 << 10;

    private static final byte[] GREETING = "ARTEMIS".getBytes(StandardCharsets.US_ASCII);
    private static final int LENGTH_BYTES = 4;
    private static final int HEAD_BYTES = 1 + 8;

    /** A packet that a connection may send any number of times, with a session or without. */
    private static final byte PING = PacketImpl.PING;

    /** Packets that open a session; members choose a form by what they know about the broker's version. */
    private static final Set<Byte> LOGIN = Set.of(PacketImpl.CREATESESSION, PacketImpl.CREATESESSION_V2);

    /** The packet before the login, which names the form of the packets that follow. */
    private static final byte SUBSCRIBE = PacketImpl.SUBSCRIBE_TOPOLOGY_V2;

    /** The packet with a message, the only one that may be large. */
    private static final byte SEND = PacketImpl.SESS_SEND;

    /** Packets of which a session consists. */
    private static final Set<Byte> SESSION = Set.of(
            PacketImpl.SESS_START,
            PacketImpl.SESS_CLOSE,
            PacketImpl.CREATE_PRODUCER,
            PacketImpl.REMOVE_PRODUCER,
            PacketImpl.SESS_PRODUCER_REQUEST_CREDITS,
            SEND,
            PacketImpl.SESS_CREATECONSUMER,
            PacketImpl.SESS_CONSUMER_CLOSE,
            PacketImpl.SESS_FLOWTOKEN,
            PacketImpl.SESS_FORCE_CONSUMER_DELIVERY,
            PacketImpl.SESS_ACKNOWLEDGE,
            // What a member sends in its place for messages of unusual priority.
            PacketImpl.SESS_INDIVIDUAL_ACKNOWLEDGE);

    private final Log log;
    private volatile int most = STRANGER;
    private volatile boolean isMember;
    private String peer = "";
    private boolean isRefused;
    private boolean hasSubscribed;
    private final Duration patience;
    private boolean hasTried;
    private int greeted;
    private int headBytes;
    private int length;
    private byte type;
    private long channel;
    private int rest;
    private MessageGuard message = new MessageGuard(0);

    /**
     * @param log is told whom it refuses, and why
     * @param patience after which a connection without a session ends
     */
    PacketGuard(Log log, Duration patience) {
        this.log = log;
        this.patience = patience;
    }

    /** Admits a member: the engine knows who it is. Called before the engine's answer, so before the member's next packet. */
    void admit(int largest) {
        most = largest;
        isMember = true;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        peer = context.channel().remoteAddress().toString();
        Future<?> deadline = context.executor()
                .schedule(
                        () -> {
                            if (!isMember) {
                                refuse(context, "no login within " + patience.toSeconds() + " s");
                            }
                        },
                        patience.toMillis(),
                        TimeUnit.MILLISECONDS);
        context.channel().closeFuture().addListener(closed -> deadline.cancel(false));
        context.fireChannelActive();
    }

    /** Refuses a connection that ends before its login: a member that does not know the password leaves by itself. */
    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (hasTried && !isMember) {
            refuse(context, "the login failed");
        }
        context.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Optional<String> problem = isRefused ? Optional.of("") : problem((ByteBuf) message);
        if (problem.isPresent()) {
            ReferenceCountUtil.release(message);
            refuse(context, problem.get());
            return;
        }
        context.fireChannelRead(message);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            Optional<String> trouble = handshake.isSuccess()
                    ? PeerCertificate.trouble(
                            context.pipeline().get(SslHandler.class).engine().getSession(), Instant.now())
                    : Optional.of(PeerCertificate.refusal(handshake.cause()));
            trouble.ifPresent(why -> refuse(context, why));
        }
        context.fireUserEventTriggered(event);
    }

    /** Ends the connection for whatever goes wrong on the way to a session. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (isMember) {
            context.fireExceptionCaught(cause);
        } else {
            close(context);
        }
    }

    private void refuse(ChannelHandlerContext context, String why) {
        if (!isRefused) {
            isRefused = true;
            log.warn("Refused " + peer + ": " + why);
        }
        close(context);
    }

    private static void close(ChannelHandlerContext context) {
        // Nobody waits until it is closed.
        ChannelFuture unused = context.close();
    }

    /** What is wrong with the next bytes of the connection; empty if nothing is. */
    private Optional<String> problem(ByteBuf bytes) {
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (at < end) {
            if (rest > 0) {
                int skipped = Math.min(rest, end - at);
                Optional<String> problem = type == SEND ? message.problem(bytes, at, skipped) : Optional.empty();
                if (problem.isPresent()) {
                    return problem;
                }
                rest -= skipped;
                at += skipped;
                continue;
            }
            Optional<String> problem = greeted < GREETING.length ? greet(bytes.getByte(at)) : head(bytes.getByte(at));
            if (problem.isPresent()) {
                return problem;
            }
            at++;
        }
        return Optional.empty();
    }

    private Optional<String> greet(byte letter) {
        return letter == GREETING[greeted++] ? Optional.empty() : Optional.of("another protocol");
    }

    private Optional<String> head(byte next) {
        headBytes++;
        if (headBytes <= LENGTH_BYTES) {
            length = length << Byte.SIZE | Byte.toUnsignedInt(next);
            return headBytes < LENGTH_BYTES || (length >= HEAD_BYTES && length <= most)
                    ? Optional.empty()
                    : Optional.of("a packet of " + Integer.toUnsignedString(length) + " bytes" + phase());
        }
        if (headBytes == LENGTH_BYTES + 1) {
            type = next;
            return Optional.empty();
        }
        channel = channel << Byte.SIZE | Byte.toUnsignedLong(next);
        if (headBytes < LENGTH_BYTES + HEAD_BYTES) {
            return Optional.empty();
        }
        Optional<String> problem = isAllowed()
                ? Optional.empty()
                : Optional.of("a packet of type " + type + " on channel " + channel + phase());
        if (problem.isEmpty() && type != SEND && length > STRANGER) {
            problem = Optional.of("a packet of type " + type + " and " + length + " bytes");
        }
        rest = length - HEAD_BYTES;
        if (problem.isEmpty() && type == SEND) {
            message = new MessageGuard(rest);
            problem = message.start();
        }
        headBytes = 0;
        length = 0;
        channel = 0;
        return problem;
    }

    private String phase() {
        return isMember ? "" : " before the login";
    }

    private boolean isAllowed() {
        if (type == PING) {
            return channel == CHANNEL_ID.PING.id;
        }
        if (isMember) {
            return channel >= CHANNEL_ID.USER.id && SESSION.contains(type);
        }
        boolean isSubscription = type == SUBSCRIBE && channel == CHANNEL_ID.PING.id && !hasSubscribed && !hasTried;
        boolean isLogin = LOGIN.contains(type) && channel == CHANNEL_ID.SESSION.id && !hasTried;
        hasSubscribed |= isSubscription;
        hasTried |= isLogin;
        return isSubscription || isLogin;
    }

    /**
     * Reads a packet with a message while it passes, and lets its last byte pass only if it is a message of a farm. The engine takes lengths in a
     * message as they are: a negative one ends the JVM, a large count takes its memory, and certain properties make it, or a receiver, do other work.
     *
     * <p>Such a packet has: the length of the body plus 13, as four bytes; the body; an id of eight bytes; the queue; whether an id of a user follows;
     * a type; whether it is durable; when it expires and when it was sent, of eight bytes each; a priority; whether properties follow, their number and
     * each one's name, type and value; and how the answer is wanted. A text is a length of four bytes, and two bytes for each character.
     */
    static final class MessageGuard {
        private static final int LENGTH_BYTES = 4;
        private static final int LENGTH_SURPLUS = 13;
        private static final int MOST_TEXT_BYTES = 256;
        private static final int TIMES_BYTES = 8 + 8;
        private static final int MOST_PRIORITY = 9;

        /** Largest and smallest part after the body. */
        private static final int MOST_TAIL_BYTES = 4 << 10;

        private static final int LEAST_TAIL_BYTES = 8 + 1 + LENGTH_BYTES + 1 + 1 + 1 + TIMES_BYTES + 1 + 1 + 1;

        /** Most bytes that say how the answer is wanted: in the newest form a flag, a number and another flag. */
        private static final int MOST_ANSWER_BYTES = 16;

        private static final Optional<String> MALFORMED = Optional.of("a malformed message");

        private final int length;
        private int lengthBytes;
        private int bodyLength;
        private int bodyRest;
        private ByteBuffer tail = ByteBuffer.allocate(0);

        /** @param length of the packet without its head */
        MessageGuard(int length) {
            this.length = length;
        }

        /** What is wrong with the length of the packet; empty if nothing is. */
        Optional<String> start() {
            return length < LENGTH_BYTES + LEAST_TAIL_BYTES ? MALFORMED : Optional.empty();
        }

        /** What is wrong with the next bytes of the packet; empty if nothing is. */
        Optional<String> problem(ByteBuf bytes, int from, int count) {
            int at = from;
            int end = from + count;
            for (; at < end && lengthBytes < LENGTH_BYTES; at++) {
                bodyLength = bodyLength << Byte.SIZE | Byte.toUnsignedInt(bytes.getByte(at));
                lengthBytes++;
                if (lengthBytes == LENGTH_BYTES) {
                    long rest = (long) length - LENGTH_BYTES + LENGTH_SURPLUS - bodyLength;
                    if (bodyLength < LENGTH_SURPLUS || rest < LEAST_TAIL_BYTES || rest > MOST_TAIL_BYTES) {
                        return MALFORMED;
                    }
                    bodyRest = bodyLength - LENGTH_SURPLUS;
                    tail = ByteBuffer.allocate((int) rest);
                }
            }
            int skipped = Math.min(bodyRest, end - at);
            bodyRest -= skipped;
            at += skipped;
            if (at < end) {
                byte[] next = new byte[end - at];
                bytes.getBytes(at, next);
                tail.put(next);
                return tail.hasRemaining() ? Optional.empty() : problem(tail.flip());
            }
            return Optional.empty();
        }

        private static Optional<String> problem(ByteBuffer tail) {
            try {
                skip(tail, Long.BYTES);
                if (tail.get() != DataConstants.NOT_NULL) {
                    return MALFORMED;
                }
                text(tail);
                boolean isPlain = tail.get() == DataConstants.NULL && tail.get() == Message.DEFAULT_TYPE;
                skip(tail, 1 + TIMES_BYTES);
                int priority = tail.get();
                if (!isPlain || priority < 0 || priority > MOST_PRIORITY) {
                    return MALFORMED;
                }
                if (tail.get() != DataConstants.NULL) {
                    int properties = tail.getInt();
                    if (properties < 0 || properties > FarmQueues.PROPERTIES.size() + 1) {
                        return MALFORMED;
                    }
                    for (int i = 0; i < properties; i++) {
                        String name = text(tail);
                        boolean isKnown = FarmQueues.PROPERTIES.contains(name)
                                || name.equals(Message.HDR_DUPLICATE_DETECTION_ID.toString());
                        if (!isKnown || tail.get() != DataConstants.STRING) {
                            return Optional.of("a message with a property that farms do not have");
                        }
                        text(tail);
                    }
                }
                return tail.hasRemaining() && tail.remaining() <= MOST_ANSWER_BYTES ? Optional.empty() : MALFORMED;
            } catch (BufferUnderflowException | IllegalArgumentException e) {
                return MALFORMED;
            }
        }

        private static void skip(ByteBuffer tail, int count) {
            tail.position(tail.position() + count);
        }

        private static String text(ByteBuffer tail) {
            int size = tail.getInt();
            if (size < 0 || size > MOST_TEXT_BYTES || size % Character.BYTES != 0) {
                throw new IllegalArgumentException("a text of " + size + " bytes");
            }
            byte[] text = new byte[size];
            tail.get(text);
            return new String(text, StandardCharsets.UTF_16LE);
        }
    }
}
