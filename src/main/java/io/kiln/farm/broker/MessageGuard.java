// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.broker;

import io.kiln.farm.link.FarmQueues;
import io.netty.buffer.ByteBuf;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.utils.DataConstants;

/**
 * Reads a packet with a message while it passes, and lets its last byte pass only if it is a message of a farm. The engine takes lengths in a
 * message as they are: a negative one ends the JVM, a large count takes its memory, and certain properties make it, or a receiver, do other work.
 *
 * <p>Such a packet has: the length of the body plus 13, as four bytes; the body; an id of eight bytes; the queue; whether an id of a user follows;
 * a type; whether it is durable; when it expires and when it was sent, of eight bytes each; a priority; whether properties follow, their number and
 * each one's name, type and value; and how the answer is wanted. A text is a length of four bytes, and two bytes for each character.
 */
final class MessageGuard {
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
