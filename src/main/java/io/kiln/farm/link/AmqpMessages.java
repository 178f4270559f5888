// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Bytes;
import io.kiln.farm.link.FarmMessage.Manner;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.qpid.protonj2.client.Message;
import org.apache.qpid.protonj2.client.exceptions.ClientException;

/**
 * Messages in the form of AMQP 1.0 (part 3, section 3.2): a header with durability, priority, time to live and the number of earlier deliveries; as
 * properties the id of a message that is kept once; as application properties those of the farm; and one section of data.
 *
 * <p>Whoever may send to the broker's queues chooses what a member reads. The client's own decoder makes an array of two thousand million elements of a
 * few bytes, so only this form is read, without decoding anything else: other sections are skipped by their lengths.
 */
final class AmqpMessages {
    /** Largest message with all its sections. */
    static final int MOST_BYTES = FarmQueues.MOST_BYTES + (64 << 10);

    private static final int LONGEST_TEXT = 128;
    private static final int SECTIONS = 0x70;
    private static final int HEADER = 0x70;
    private static final int PROPERTIES = 0x74;
    private static final int DATA = 0x75;
    private static final int FOOTER = 0x78;

    /** Ids of the elements of a header. */
    private static final int DURABLE = 0;

    private static final int PRIORITY = 1;
    private static final int TRIES = 4;

    private final ByteBuffer in;
    private final Map<String, String> properties = new HashMap<>();
    private final long[] header = {0, Manner.USUAL, 0, 0, 0};
    private Optional<Bytes> body = Optional.empty();

    private AmqpMessages(byte[] raw) {
        in = ByteBuffer.wrap(raw);
    }

    /**
     * A message as it was received.
     *
     * @param message what it says
     * @param tries how often it was given to somebody who did not finish with it
     */
    record Read(FarmMessage message, long tries) {}

    /** Says what is wrong with a message. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String what) {
            super(what);
        }
    }

    /** The form in which a message is sent. */
    static Message<byte[]> of(FarmMessage message) throws ClientException {
        Message<byte[]> out = Message.create(message.body().toArray());
        Manner manner = message.manner();
        out.durable(manner.isDurable()).priority((byte) manner.priority());
        if (manner.lifetime().isPresent()) {
            out.timeToLive(manner.lifetime().get().toMillis());
        }
        if (manner.unique().isPresent()) {
            out.messageId(manner.unique().get());
        }
        for (Map.Entry<String, String> property : message.properties().entrySet()) {
            out.property(property.getKey(), property.getValue());
        }
        return out;
    }

    /** Reads the sections of a message, {@link #MOST_BYTES} or less. */
    static Read read(byte[] raw) throws Malformed {
        try {
            return new AmqpMessages(raw).read();
        } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new Malformed("a malformed message");
        }
    }

    private Read read() throws Malformed {
        int before = SECTIONS - 1;
        while (in.hasRemaining()) {
            int section = section();
            if (section <= before) {
                throw new Malformed("a malformed message: sections in another order");
            }
            before = section;
            switch (section) {
                case HEADER -> header(compound(in));
                case PROPERTIES -> properties(compound(in));
                case DATA -> body = Optional.of(data());
                default -> compound(in);
            }
        }
        Manner manner = new Manner(header[DURABLE] != 0, Optional.empty(), Optional.empty(), (int) header[PRIORITY]);
        return new Read(
                new FarmMessage(properties, body.orElseThrow(() -> new Malformed("a message without data")), manner),
                header[TRIES]);
    }

    /** The kind of the next section: a descriptor is the byte 0, and a long number in its short or its long form. */
    private int section() throws Malformed {
        boolean isDescribed = in.get() == 0;
        int form = Byte.toUnsignedInt(in.get());
        long kind = form == 0x53 ? Byte.toUnsignedLong(in.get()) : form == 0x80 ? in.getLong() : 0;
        if (!isDescribed || kind < SECTIONS || kind > FOOTER || kind == DATA + 1 || kind == DATA + 2) {
            throw new Malformed("a message with other sections than farms have");
        }
        return (int) kind;
    }

    /** The content of a list or map, from the number of its elements on. */
    private static ByteBuffer compound(ByteBuffer from) throws Malformed {
        int form = Byte.toUnsignedInt(from.get());
        int size = switch (form) {
            case 0x45 -> 0;
            case 0xc0, 0xc1 -> Byte.toUnsignedInt(from.get());
            case 0xd0, 0xd1 -> from.getInt();
            default -> throw new Malformed("a malformed message: no list or map");
        };
        if (form == 0x45) {
            return ByteBuffer.allocate(Integer.BYTES);
        }
        ByteBuffer content = from.slice(from.position(), size);
        from.position(from.position() + size);
        if (form >= 0xd0) {
            return content;
        }
        // As the long form: the number of elements in four bytes.
        return ByteBuffer.allocate(Integer.BYTES + size - 1)
                .putInt(Byte.toUnsignedInt(content.get()))
                .put(content)
                .flip();
    }

    private void header(ByteBuffer list) throws Malformed {
        int count = list.getInt();
        for (int i = 0; i < count && i < header.length; i++) {
            int form = Byte.toUnsignedInt(list.get());
            switch (form) {
                case 0x40 -> {}
                case 0x41 -> header[i] = 1;
                case 0x42, 0x43 -> header[i] = 0;
                case 0x50, 0x52, 0x56 -> header[i] = Byte.toUnsignedLong(list.get());
                case 0x70 -> header[i] = Integer.toUnsignedLong(list.getInt());
                default -> throw new Malformed("a malformed message: a header with other types");
            }
        }
        header[PRIORITY] = Math.min(Manner.MOST, header[PRIORITY]);
    }

    private void properties(ByteBuffer map) throws Malformed {
        int count = map.getInt();
        if (count < 0 || count > 2 * FarmQueues.PROPERTIES.size()) {
            throw new Malformed("a message with " + Integer.toUnsignedString(count / 2) + " properties");
        }
        for (int i = 0; i < count / 2; i++) {
            String name = text(map);
            if (!FarmQueues.PROPERTIES.contains(name)) {
                throw new Malformed("a message with a property that farms do not have");
            }
            properties.put(name, text(map));
        }
    }

    private static String text(ByteBuffer from) throws Malformed {
        int form = Byte.toUnsignedInt(from.get());
        int size = form == 0xa1 ? Byte.toUnsignedInt(from.get()) : form == 0xb1 ? from.getInt() : -1;
        if (size < 0 || size > LONGEST_TEXT) {
            throw new Malformed("a message with a property that is no text of " + LONGEST_TEXT + " bytes or less");
        }
        byte[] text = new byte[size];
        from.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private Bytes data() throws Malformed {
        int form = Byte.toUnsignedInt(in.get());
        int size = form == 0xa0 ? Byte.toUnsignedInt(in.get()) : form == 0xb0 ? in.getInt() : -1;
        if (size < 0 || size > in.remaining() || size > FarmQueues.MOST_BYTES) {
            throw new Malformed("a malformed message: data of " + Integer.toUnsignedString(size) + " bytes");
        }
        byte[] content = new byte[size];
        in.get(content);
        return Bytes.wrap(content);
    }
}
