// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;

/**
 * Closes a connection whose next frame is too large, as soon as its length is known. The engine itself would gather up to two gigabytes before it
 * looked at them. A frame of the engine's protocol is a length of four bytes, followed by that many bytes.
 */
final class FrameLimit extends ChannelInboundHandlerAdapter {
    /** For those who did not prove yet who they are. */
    static final int STRANGER = 64 << 10;

    private static final int LENGTH_BYTES = 4;

    private volatile int most = STRANGER;
    private long rest;
    private int lengthBytes;
    private int length;

    /** Allows larger frames. */
    void raise(int bytes) {
        most = bytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf bytes && !isAllowed(bytes)) {
            ReferenceCountUtil.release(message);
            // Nobody waits until it is closed.
            ChannelFuture unused = context.close();
            return;
        }
        context.fireChannelRead(message);
    }

    private boolean isAllowed(ByteBuf bytes) {
        int at = bytes.readerIndex();
        int end = bytes.writerIndex();
        while (at < end) {
            if (rest > 0) {
                int skipped = (int) Math.min(rest, end - at);
                rest -= skipped;
                at += skipped;
            } else {
                length = length << Byte.SIZE | bytes.getUnsignedByte(at++);
                lengthBytes++;
                if (lengthBytes == LENGTH_BYTES) {
                    if (length < 0 || length > most) {
                        return false;
                    }
                    rest = length;
                    length = 0;
                    lengthBytes = 0;
                }
            }
        }
        return true;
    }
}
