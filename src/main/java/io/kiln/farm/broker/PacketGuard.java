// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.Log;
import io.kiln.farm.link.PeerCertificate;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.core.protocol.core.impl.ChannelImpl.CHANNEL_ID;
import org.apache.activemq.artemis.core.protocol.core.impl.PacketImpl;

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
}
