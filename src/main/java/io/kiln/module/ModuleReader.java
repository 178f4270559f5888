// SPDX-License-Identifier: Apache-2.0
package io.kiln.module;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.LazyList;
import io.kiln.base.StrictText;
import io.kiln.spi.BlobReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Reads the primitives of dmlc::Stream from a blob that may be damaged: every count and length is checked against what is left, so that little
 * memory is taken, and every error has its offset.
 */
public final class ModuleReader implements BlobReader {
    private static final String NUMBER = "the number of ";

    private final Bytes blob;
    private final ByteBuffer in;
    private final String name;

    /**
     * @param blob the bytes
     * @param name the file's name, for messages
     */
    public ModuleReader(Bytes blob, String name) {
        this(blob, name, 0);
    }

    /** Begins at an offset. */
    ModuleReader(Bytes blob, String name, int offset) {
        this.blob = blob;
        this.in = blob.buffer().order(ByteOrder.LITTLE_ENDIAN).position(offset);
        this.name = name;
    }

    @Override
    public int position() {
        return in.position();
    }

    @Override
    public int remaining() {
        return in.remaining();
    }

    @Override
    public long u64(String what) {
        need(8, what);
        return in.getLong();
    }

    @Override
    public int u32(String what) {
        need(4, what);
        return in.getInt();
    }

    @Override
    public int count(int least, String what) {
        return count(least, "", what);
    }

    /** Reads a count. The text for an error is built only when there is one. */
    private int count(int least, String before, String what) {
        int at = position();
        long count = u64(what);
        if (count < 0 || count > in.remaining() / least) {
            throw broken(
                    before + what + " is " + Long.toUnsignedString(count) + " with " + in.remaining() + " bytes left",
                    at);
        }
        return (int) count;
    }

    /** Reads u64 length and the bytes. */
    public Bytes string(String what) {
        return raw(length(what), what);
    }

    /** Reads a length. The text for an error is built only when there is one. */
    private int length(String what) {
        int at = position();
        long length = u64(what);
        if (length < 0 || length > in.remaining()) {
            throw broken(
                    "the length of " + what + " is " + Long.toUnsignedString(length) + " with " + in.remaining()
                            + " bytes left",
                    at);
        }
        return (int) length;
    }

    @Override
    public String text(String what) {
        int length = textLength(what);
        return length == 0 ? "" : raw(length, what).text();
    }

    /** Skips u64 length and a text, which it checks to be UTF-8, without making an object. */
    void skipText(String what) {
        int length = textLength(what);
        in.position(position() + length);
    }

    /** Reads the length of a text, and checks that as many bytes of UTF-8 follow. */
    private int textLength(String what) {
        int at = position();
        int length = length(what);
        if (length > StrictText.MOST_BYTES) {
            throw broken("the length of " + what + " is " + length + ", more than " + StrictText.MOST_BYTES, at);
        }
        if (!StrictText.isText(blob, position(), length)) {
            throw broken(what + " is not text in UTF-8", position());
        }
        return length;
    }

    /** A text that is one of some words; the word is returned, and no object made. Other texts are read as {@link #text} does. */
    String word(List<String> words, String what) {
        int start = position();
        int length = textLength(what);
        int text = position();
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word.length() == length && isAt(word, text)) {
                in.position(text + length);
                return word;
            }
        }
        in.position(start);
        return text(what);
    }

    private boolean isAt(String word, int at) {
        int i = 0;
        while (i < word.length() && blob.get(at + i) == word.charAt(i)) {
            i++;
        }
        return i == word.length();
    }

    /** Reads u64 count and the texts; each becomes an object when it is asked for. */
    @Override
    public List<String> texts(String what) {
        int count = count(8, NUMBER, what);
        return count == 0 ? List.of() : items(count, each -> each.skipText(what), each -> each.text(what));
    }

    /** Compares two texts that were read at these offsets, byte by byte. */
    int compareTexts(int one, int other) {
        int oneLength = (int) in.getLong(one);
        int otherLength = (int) in.getLong(other);
        for (int i = 0; i < Math.min(oneLength, otherLength); i++) {
            int order = Byte.compareUnsigned(blob.get(one + Long.BYTES + i), blob.get(other + Long.BYTES + i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(oneLength, otherLength);
    }

    /** Skips u64 count and the texts, which it checks. */
    void skipTexts(String what) {
        for (int count = count(8, NUMBER, what); count > 0; count--) {
            skipText(what);
        }
    }

    /**
     * Reads items: all are checked now, and each becomes an object when it is asked for.
     *
     * @param count from {@link #count}, so that the list takes at most half as much as the items
     * @param check reads one item and makes no object of it
     * @param item reads one item that was checked
     */
    <T> ItemsInBlob<T> items(int count, Consumer<ModuleReader> check, Function<ModuleReader, T> item) {
        int[] offsets = new int[count];
        for (int i = 0; i < count; i++) {
            offsets[i] = position();
            check.accept(this);
        }
        return new ItemsInBlob<>(blob, name, offsets, item);
    }

    /** Reads u64 count and as many numbers of 64 bits, each below 2^31; the list shares the blob's memory. */
    NumbersInBlob numbers(String what) {
        int count = count(8, NUMBER, what);
        int start = position();
        for (int i = 0; i < count; i++) {
            int at = position();
            long number = u64(what);
            if (number < 0 || number > Integer.MAX_VALUE) {
                throw broken("one of the " + what + " is " + Long.toUnsignedString(number), at);
            }
        }
        return new NumbersInBlob(blob, start, count);
    }

    /** Reads raw bytes, which share the blob's memory. */
    public Bytes raw(long length, String what) {
        int start = position();
        skip(length, what);
        return since(start);
    }

    @Override
    public ByteBuffer bytes(int length, String what) {
        return raw(length, what).buffer();
    }

    /** The bytes from an offset to where the input stands; they share the blob's memory. */
    public Bytes since(int start) {
        return blob.part(start, position() - start);
    }

    public void skip(long length, String what) {
        need(length, what);
        in.position(position() + (int) length);
    }

    @Override
    public KilnException broken(String what, int at) {
        return Failure.ARCHIVE.exception(
                "the modules cannot be read: " + what, name + String.format(Locale.ROOT, ", offset 0x%x", at));
    }

    private void need(long length, String what) {
        if (length < 0 || length > in.remaining()) {
            throw broken(
                    what + " takes " + Long.toUnsignedString(length) + " bytes of " + in.remaining() + " left",
                    position());
        }
    }

    /** A list of numbers that stay in the blob, where each takes 64 bits and is below 2^31. */
    static final class NumbersInBlob extends LazyList<Integer> {
        private final Bytes blob;
        private final int start;
        private final int count;

        /**
         * @param start offset of the first number
         * @param count how many there are
         */
        NumbersInBlob(Bytes blob, int start, int count) {
            this.blob = blob;
            this.start = start;
            this.count = count;
        }

        /** The number at an index, without an object. */
        int at(int index) {
            int at = start + Objects.checkIndex(index, count) * Long.BYTES;
            int number = 0;
            for (int i = Integer.BYTES - 1; i >= 0; i--) {
                number = (number << Byte.SIZE) | (blob.get(at + i) & 0xFF);
            }
            return number;
        }

        /** The numbers from one index to another. */
        NumbersInBlob part(int from, int to) {
            Objects.checkFromToIndex(from, to, count);
            return new NumbersInBlob(blob, start + from * Long.BYTES, to - from);
        }

        @Override
        public Integer get(int index) {
            return at(index);
        }

        @Override
        public int size() {
            return count;
        }
    }

    /** A list of items that stay in the blob: they were checked once, and each is made an object when it is asked for. */
    static final class ItemsInBlob<T> extends LazyList<T> {
        private final Bytes blob;
        private final String name;
        private final int[] offsets;
        private final Function<ModuleReader, T> item;

        /**
         * @param name the file's name, for messages
         * @param offsets where each item begins; the caller keeps no reference to them
         * @param item reads one of them
         */
        ItemsInBlob(Bytes blob, String name, int[] offsets, Function<ModuleReader, T> item) {
            this.blob = blob;
            this.name = name;
            this.offsets = offsets;
            this.item = item;
        }

        /** Where an item begins. */
        int offset(int index) {
            return offsets[index];
        }

        @Override
        public T get(int index) {
            return item.apply(new ModuleReader(blob, name, offsets[index]));
        }

        @Override
        public int size() {
            return offsets.length;
        }
    }
}
