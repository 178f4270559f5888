// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.base.Log;
import io.kiln.farm.link.FarmAddress;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptor;

/**
 * The port of a broker. The engine's own would look for HTTP, WebSockets and a proxy's headers in the first bytes of a connection; this one puts TLS
 * and a {@link PacketGuard} before the engine, and hands over what passes them.
 */
final class BrokerPort implements AutoCloseable {
    /** Name of the guard in a connection's pipeline. */
    static final String GUARD = "kiln-packet-guard";

    private static final int CONNECTIONS = 500;
    private static final int THREADS = 4;
    private static final long END_SECONDS = 5;

    private final EventLoopGroup threads = new NioEventLoopGroup(THREADS);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final NettyAcceptor engine;
    private final boolean isEncrypted;
    private final Log log;
    private final Duration patience;
    private final Channel listening;

    /**
     * Listens on an address.
     *
     * @param engine takes the connections; it has the keys and certificates for TLS
     * @param log is told who is refused
     * @throws InterruptedException if the thread is interrupted meanwhile
     */
    BrokerPort(NettyAcceptor engine, FarmAddress address, Log log) throws InterruptedException {
        this.engine = engine;
        this.isEncrypted = address.isEncrypted();
        this.log = log;
        this.patience = address.patience();
        ServerBootstrap server = new ServerBootstrap()
                .group(threads)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) throws Exception {
                        accept(channel);
                    }
                });
        try {
            this.listening = server.bind(new InetSocketAddress(address.bareHost(), address.port()))
                    .sync()
                    .channel();
        } catch (Throwable e) {
            end();
            throw e;
        }
    }

    private void accept(Channel channel) throws Exception {
        if (connections.size() >= CONNECTIONS) {
            log.warn("Refused " + channel.remoteAddress() + ": there are " + CONNECTIONS + " connections");
            ChannelFuture unused = channel.close();
            return;
        }
        connections.add(channel);
        if (isEncrypted) {
            channel.pipeline().addLast(engine.getSslHandler(channel.alloc(), null, 0));
        }
        channel.pipeline().addLast(GUARD, new PacketGuard(log, patience));
        engine.transfer(channel);
    }

    /** The port that it has. */
    int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    /** Ends all connections, and takes no more. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly();
        connections.close().awaitUninterruptibly();
        end();
    }

    private void end() {
        threads.shutdownGracefully(0, END_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
