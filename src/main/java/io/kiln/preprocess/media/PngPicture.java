// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess.media;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Reads PNG (W3C Portable Network Graphics, second edition): all colour types and depths, interlaced too. Transparency is left out, of samples
 * of 16 bits the upper 8 count, and nothing is done with gamma and colour profiles.
 */
final class PngPicture {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    private static final int MAX_CHUNKS = 100_000;
    private static final int CHUNK_FRAME = 12;

    private static final int GREY = 0;
    private static final int COLOUR = 2;
    private static final int PALETTE = 3;
    private static final int GREY_ALPHA = 4;
    private static final int COLOUR_ALPHA = 6;

    /** Of Adam7's passes: first column, first row, columns to the next pixel, rows to the next. */
    private static final int[][] PASSES = {
        {0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}
    };

    private static final int[][] ONE_PASS = {{0, 0, 1, 1}};

    private final String name;
    private final ByteBuffer file;
    private Header header = new Header(1, 1, 8, GREY, false);
    private byte[] palette = new byte[0];

    private record Header(int height, int width, int depth, int type, boolean isInterlaced) {
        int fileChannels() {
            return switch (type) {
                case COLOUR -> 3;
                case GREY_ALPHA -> 2;
                case COLOUR_ALPHA -> 4;
                default -> 1;
            };
        }

        int channels() {
            return type == GREY || type == GREY_ALPHA ? 1 : 3;
        }

        /** Whether the standard has this depth for this type. */
        boolean isAllowed() {
            return switch (type) {
                case GREY -> Integer.bitCount(depth) == 1 && depth <= 16;
                case PALETTE -> Integer.bitCount(depth) == 1 && depth <= 8;
                case COLOUR, GREY_ALPHA, COLOUR_ALPHA -> depth == 8 || depth == 16;
                default -> false;
            };
        }

        int rowBytes(int pixels) {
            return (int) (((long) pixels * fileChannels() * depth + 7) / 8);
        }

        int columns(int[] pass) {
            return (width - pass[0] + pass[2] - 1) / pass[2];
        }

        int rows(int[] pass) {
            return (height - pass[1] + pass[3] - 1) / pass[3];
        }
    }

    private PngPicture(String name, byte[] content) {
        this.name = name;
        this.file = ByteBuffer.wrap(content);
    }

    static boolean is(byte[] content) {
        return content.length >= SIGNATURE.length && Arrays.equals(Arrays.copyOf(content, SIGNATURE.length), SIGNATURE);
    }

    static Picture parse(String name, byte[] content) {
        PngPicture png = new PngPicture(name, content);
        return png.pixels(png.data());
    }

    /** Reads all chunks; gives the compressed data. */
    private byte[] data() {
        byte[] data = new byte[file.capacity()];
        int bytes = 0;
        int at = SIGNATURE.length;
        for (int chunk = 0; chunk < MAX_CHUNKS; chunk++) {
            if (at > file.capacity() - CHUNK_FRAME) {
                throw damaged("it ends before its end is marked");
            }
            long size = Integer.toUnsignedLong(file.getInt(at));
            int type = file.getInt(at + 4);
            if (size > file.capacity() - at - CHUNK_FRAME) {
                throw damaged("a chunk has " + size + " bytes, more than the file");
            }
            int from = at + 8;
            if ((chunk == 0) != (type == chunk("IHDR"))) {
                throw damaged("the first chunk alone must be its header");
            }
            if (type == chunk("IHDR")) {
                header = header(from, (int) size);
            } else if (type == chunk("PLTE")) {
                palette = Arrays.copyOfRange(file.array(), from, from + (int) size);
            } else if (type == chunk("IDAT")) {
                System.arraycopy(file.array(), from, data, bytes, (int) size);
                bytes += (int) size;
            } else if (type == chunk("IEND")) {
                return Arrays.copyOf(data, bytes);
            } else if ((type >> 24 & 0x20) == 0) {
                throw damaged("a chunk is unknown, and not marked as one that may be left out");
            }
            at = from + (int) size + 4;
        }
        throw damaged("it has more than " + MAX_CHUNKS + " chunks");
    }

    private static int chunk(String letters) {
        return letters.chars().reduce(0, (all, letter) -> all << 8 | letter);
    }

    private Header header(int at, int size) {
        if (size != 13) {
            throw damaged("its header has " + size + " bytes");
        }
        long width = Integer.toUnsignedLong(file.getInt(at));
        long height = Integer.toUnsignedLong(file.getInt(at + 4));
        Picture.checkSize(name, height, width);
        int interlace = file.get(at + 12);
        Header found = new Header((int) height, (int) width, file.get(at + 8), file.get(at + 9), interlace == 1);
        if (!found.isAllowed() || file.getShort(at + 10) != 0 || interlace < 0 || interlace > 1) {
            throw damaged("its header has values that PNG does not know");
        }
        return found;
    }

    private Picture pixels(byte[] data) {
        byte[] samples = new byte[header.height() * header.width() * header.channels()];
        if (header.type() == PALETTE && (palette.length == 0 || palette.length % 3 != 0 || palette.length > 768)) {
            throw damaged("its palette has " + palette.length + " bytes");
        }
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(data);
            for (int[] pass : header.isInterlaced() ? PASSES : ONE_PASS) {
                if (header.columns(pass) > 0) {
                    readPass(inflater, pass, samples);
                }
            }
        } catch (DataFormatException e) {
            throw damaged("its data cannot be decompressed");
        } finally {
            inflater.end();
        }
        return new Picture(header.height(), header.width(), header.channels(), Bytes.wrap(samples));
    }

    private void readPass(Inflater inflater, int[] pass, byte[] samples) throws DataFormatException {
        int columns = header.columns(pass);
        byte[] row = new byte[1 + header.rowBytes(columns)];
        byte[] before = new byte[row.length];
        for (int r = 0; r < header.rows(pass); r++) {
            int filled = 0;
            while (filled < row.length) {
                int more = inflater.inflate(row, filled, row.length - filled);
                if (more == 0) {
                    throw damaged("its data end before its last row");
                }
                filled += more;
            }
            unfilter(row, before);
            int y = pass[1] + r * pass[3];
            for (int c = 0; c < columns; c++) {
                put(row, c, (y * header.width() + pass[0] + c * pass[2]) * header.channels(), samples);
            }
            byte[] free = before;
            before = row;
            row = free;
        }
    }

    /** Adds to each byte what its row's filter predicts; the filter is the first byte. */
    private void unfilter(byte[] row, byte[] above) {
        int step = Math.max(1, header.fileChannels() * header.depth() / 8);
        int filter = row[0];
        if (filter < 0 || filter > 4) {
            throw damaged("a row has a filter that PNG does not know");
        }
        for (int i = 1; i < row.length; i++) {
            int left = i > step ? row[i - step] & 0xff : 0;
            int up = above[i] & 0xff;
            int corner = i > step ? above[i - step] & 0xff : 0;
            int predicted = switch (filter) {
                case 1 -> left;
                case 2 -> up;
                case 3 -> (left + up) / 2;
                case 4 -> paeth(left, up, corner);
                default -> 0;
            };
            row[i] += (byte) predicted;
        }
    }

    private static int paeth(int left, int up, int corner) {
        int estimate = left + up - corner;
        int toLeft = Math.abs(estimate - left);
        int toUp = Math.abs(estimate - up);
        int toCorner = Math.abs(estimate - corner);
        if (toLeft <= toUp && toLeft <= toCorner) {
            return left;
        }
        return toUp <= toCorner ? up : corner;
    }

    private void put(byte[] row, int column, int at, byte[] samples) {
        if (header.type() == PALETTE) {
            int index = 3 * sample(row, column);
            if (index >= palette.length) {
                throw damaged("a pixel has a colour that the palette lacks");
            }
            System.arraycopy(palette, index, samples, at, 3);
            return;
        }
        for (int c = 0; c < header.channels(); c++) {
            int value = sample(row, column * header.fileChannels() + c);
            int most = (1 << header.depth()) - 1;
            samples[at + c] = (byte) (header.depth() < 8 ? value * 255 / most : value);
        }
    }

    /** A sample of a row; of one with 16 bits the upper 8. */
    private int sample(byte[] row, int index) {
        int depth = header.depth();
        if (depth >= 8) {
            return row[1 + index * (depth / 8)] & 0xff;
        }
        int bit = index * depth;
        return (row[1 + bit / 8] & 0xff) >> (8 - depth - bit % 8) & ((1 << depth) - 1);
    }

    private KilnException damaged(String how) {
        return Picture.refused(name, "this PNG is damaged: " + how, "a whole file");
    }
}
