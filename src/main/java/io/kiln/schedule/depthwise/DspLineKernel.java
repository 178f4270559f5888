// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.kernels.depthwise.Jtedsp_lineGenerated;
import io.kiln.schedule.convolution.DspEpilogue;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * The micro-kernel of {@link DspLineDepthwiseSchedule}: some neighbouring outputs of a row, channel by channel, whose sums all stay in registers.
 *
 * @param line the outputs and their windows
 * @param epilogue the rescaling of the sums
 */
public record DspLineKernel(Line line, DspEpilogue epilogue) {
    /** Rows of a window with registers for their addresses. */
    static final int MOST_ROWS_APART = 3;

    /** Registers besides the stack pointer, the program counter and the weights' address. */
    private static final int REGISTERS = 13;

    /** Inputs that are loaded before they are used: a pair at least. */
    private static final int LEAST_INPUTS = 2;

    private static final int MOST_INPUTS = 6;

    /** Registers that a rescaling wants beside the sums. */
    private static final int LEAST_SCRATCH = 4;

    /**
     * Rows, columns and steps of windows.
     *
     * @param rows rows of the window
     * @param taps columns of the window, 2 or more
     * @param stride columns from window to window
     */
    record Steps(int rows, int taps, int stride) {}

    /**
     * Part of a row.
     *
     * @param outputs neighbouring outputs
     * @param lead columns of the first window before the first input; these, and those behind the last input, are padding
     * @param inputs columns of inputs
     */
    record Span(int outputs, int lead, int inputs) {}

    /**
     * Where things lie.
     *
     * @param channels bytes from an input or output to its neighbour
     * @param pitch bytes from row to row; 0 if the rows are apart, each at a place of its own
     * @param shares shares of the padding in the table of a channel, those of other parts of the row included
     * @param firstShare index of the first one of this part
     * @param hasBytes whether the table has bytes of weights, those of two words in one; a word without another one stays as it is
     */
    record Layout(int channels, int pitch, int shares, int firstShare, boolean hasBytes) {
        /** Of a table without shares. */
        static Layout of(int channels, int pitch, boolean hasBytes) {
            return new Layout(channels, pitch, 0, 0, hasBytes);
        }
    }

    /**
     * Neighbouring outputs, and the inputs under their windows.
     *
     * @param steps of the windows
     * @param span which outputs and inputs
     * @param layout in memory
     */
    public record Line(Steps steps, Span span, Layout layout) {
        public int rows() {
            return steps.rows;
        }

        public int taps() {
            return steps.taps;
        }

        public int stride() {
            return steps.stride;
        }

        public int outputs() {
            return span.outputs;
        }

        public int lead() {
            return span.lead;
        }

        public int inputs() {
            return span.inputs;
        }

        public int channels() {
            return layout.channels;
        }

        public int pitch() {
            return layout.pitch;
        }

        /** Shares of the padding in the table of a channel. */
        public int shares() {
            return layout.shares;
        }

        /** Index of the share of the first of {@link #padded}. */
        public int firstShare() {
            return layout.firstShare;
        }

        /** Whether another one computes the same of other inputs: they have no padding, or are as far into it. */
        boolean isLike(Line other) {
            return span.equals(other.span) && padded().isEmpty();
        }

        /** The same line with its shares behind those of other lines. */
        Line withShares(int before, int all) {
            return new Line(steps, span, new Layout(layout.channels, layout.pitch, all, before, layout.hasBytes));
        }

        /** Whether the weights in the table are bytes. */
        public boolean hasBytes() {
            return layout.hasBytes && words().size() > 1;
        }

        /** Whether a word of weights comes out of a word of bytes together with another one: an even one with the next. */
        public boolean isInBytes(int word) {
            return hasBytes() && word / 2 * 2 + 1 < words().size();
        }

        /** Words of the table that the weights of a row take. */
        public int rowWords() {
            int words = words().size();
            return hasBytes() ? (words + 1) / 2 : words;
        }

        /** Whether rows are apart. */
        public boolean isApart() {
            return pitch() == 0;
        }

        /** The column of a tap of an output; negative, or {@link #inputs()} and more, in the padding. */
        public int column(int output, int tap) {
            return output * stride() - lead() + tap;
        }

        private boolean isInside(int output, int tap) {
            return column(output, tap) >= 0 && column(output, tap) < inputs();
        }

        /** Outputs whose windows reach into the padding, which has a constant share in their sums. */
        public List<Integer> padded() {
            return IntStream.range(0, outputs())
                    .filter(output -> !isInside(output, 0) || !isInside(output, taps() - 1))
                    .boxed()
                    .toList();
        }

        /** The share of the padding in an output's sum, of the weights of a channel by tap, and for inputs of 1. */
        int paddedShare(int output, int[] sumsOfTaps) {
            return IntStream.range(0, taps())
                    .filter(tap -> !isInside(output, tap))
                    .map(tap -> sumsOfTaps[tap])
                    .sum();
        }

        /** Whether a tap and the next one multiply the two inputs of a pair. */
        private boolean isPair(int output, int tap) {
            return column(output, tap) % 2 == 0
                    && tap + 1 < taps()
                    && isInside(output, tap)
                    && isInside(output, tap + 1);
        }

        /** The taps that are the first one of a word of weights; the other is the next one. */
        public List<Integer> words() {
            Set<Integer> words = new TreeSet<>();
            for (int output = 0; output < outputs(); output++) {
                for (int tap = 0; tap < taps(); tap++) {
                    if (isPair(output, tap)) {
                        words.add(tap);
                    }
                }
            }
            for (int output = 0; output < outputs(); output++) {
                for (int tap = 0; tap < taps(); tap++) {
                    boolean isSecond = tap > 0 && isPair(output, tap - 1);
                    if (isInside(output, tap) && !isPair(output, tap) && !isSecond) {
                        if (!words.contains(tap) && !words.contains(tap - 1)) {
                            words.add(Math.max(0, tap - 1));
                        }
                    }
                }
            }
            return List.copyOf(words);
        }

        /**
         * A multiplication by an input or by a pair of them.
         *
         * @param output whose sum
         * @param word index of the word of weights
         * @param halves which halves of the inputs' word and of the weights' word, as in SMLABT; empty for both
         */
        public record Product(int output, int word, String halves) {}

        /** The multiplications by a pair of inputs, of which the last one may be alone. */
        public List<Product> products(int first) {
            List<Integer> words = words();
            List<Product> products = new ArrayList<>();
            for (int output = 0; output < outputs(); output++) {
                int tap = first - column(output, 0);
                if (tap >= 0 && tap < taps()) {
                    products.add(
                            isPair(output, tap)
                                    ? new Product(output, words.indexOf(tap), "")
                                    : single(words, output, tap, "b"));
                } else if (tap == -1 && first + 1 < inputs()) {
                    products.add(single(words, output, 0, "t"));
                }
            }
            return products;
        }

        private static Product single(List<Integer> words, int output, int tap, String half) {
            boolean isFirst = words.contains(tap);
            return new Product(output, words.indexOf(isFirst ? tap : tap - 1), half + (isFirst ? "b" : "t"));
        }

        /** For each tap the halfword of its weight in the words of a row. */
        public List<Integer> halfwords() {
            List<Integer> words = words();
            return IntStream.range(0, taps())
                    .map(tap -> words.contains(tap) ? 2 * words.indexOf(tap) : 2 * words.indexOf(tap - 1) + 1)
                    .boxed()
                    .toList();
        }

        /** Bytes from a channel's inputs to a row of them, where those follow each other. */
        public int place(int row, int column) {
            return row * pitch() + column * channels();
        }

        private int pointers() {
            return isApart() ? rows() : 1;
        }

        private int fixed() {
            return pointers() + words().size() + outputs();
        }

        /** Whether registers suffice for addresses, weights of a row, sums and a pair of inputs. */
        boolean fitsRegisters() {
            return fixed() + LEAST_INPUTS <= REGISTERS && REGISTERS - pointers() - outputs() >= LEAST_SCRATCH;
        }

        private String suffix() {
            return rows() + "x" + taps() + (stride() == 1 ? "" : "_stride" + stride()) + "_outputs" + outputs() + "_c"
                    + channels()
                    + (lead() == 0 ? "" : "_lead" + lead()) + "_inputs" + inputs()
                    + (isApart() ? "" : "_pitch" + pitch()) + (hasBytes() ? "_bytes" : "")
                    + (shares() == padded().size() ? "" : "_share" + firstShare() + "of" + shares());
        }

        /** The outputs and windows, in words. */
        public String inWords() {
            String padding =
                    padded().isEmpty() ? "" : String.format(Locale.ROOT, ", %d columns of padding first", lead());
            return String.format(
                    Locale.ROOT,
                    "%d neighbouring outputs of a depthwise convolution of %dx%d with stride %d%s",
                    outputs(),
                    rows(),
                    taps(),
                    stride(),
                    padding);
        }
    }

    /** The register of a row's inputs. */
    public String row(int row) {
        return "r" + (row == 0 || !line.isApart() ? 0 : row + 1);
    }

    /** Registers for weights, then for inputs, then for sums; in ascending order. */
    private List<String> free() {
        int first = line.pointers() + 1;
        List<String> free = new ArrayList<>();
        for (int i = first; i < REGISTERS; i++) {
            free.add("r" + i);
        }
        free.add("lr");
        return free;
    }

    /** The registers of a row's weights. */
    public List<String> weights() {
        return free().subList(0, line.words().size());
    }

    /** The registers of the inputs that are loaded together. */
    public List<String> inputs() {
        int count = Math.min(MOST_INPUTS, REGISTERS - line.fixed());
        return free().subList(line.words().size(), line.words().size() + count);
    }

    /** The registers of the sums. */
    public List<String> sums() {
        List<String> free = free();
        return free.subList(free.size() - line.outputs(), free.size());
    }

    /** Registers that are free behind the sums, at least three. */
    public List<String> scratch() {
        return free().subList(0, weights().size() + inputs().size());
    }

    /** The first columns of batches of inputs that are loaded together, in pairs but for the last one. */
    public List<Integer> batches() {
        int most = inputs().size();
        List<Integer> batches = new ArrayList<>();
        for (int column = 0; column < line.inputs(); ) {
            batches.add(column);
            int rest = line.inputs() - column;
            column += rest <= most ? rest : most / 2 * 2;
        }
        return batches;
    }

    /** Words of a channel in the table: shares of the padding, weights, constants. */
    public int channelWords() {
        return line.shares() + line.rows() * line.rowWords() + epilogue.constants();
    }

    /** About how many cycles a channel takes. */
    int cycles() {
        int products = 0;
        for (int column = 0; column < line.inputs(); column += 2) {
            products += line.products(column).size();
        }
        int row = line.inputs()
                + line.words().size()
                + line.inputs() / 2
                + batches().size()
                + (line.hasBytes() ? line.words().size() : 0)
                + products;
        return line.rows() * row + line.padded().size() + line.pointers() + 3 * line.outputs() + 14;
    }

    private String name() {
        return "kiln_depthwise_line_" + line.suffix() + epilogue.suffix();
    }

    private List<String> parameters() {
        List<String> parameters = new ArrayList<>();
        parameters.add("const int8_t* x");
        if (line.isApart()) {
            parameters.add("const int8_t* padding");
        }
        parameters.add("const int32_t* w");
        parameters.add("int8_t* out");
        for (int row = 0; row < line.rows() && line.isApart(); row++) {
            parameters.add("int32_t row" + row);
        }
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return parameters;
    }

    /** {@code (x, w, out[, late])}, or {@code (x, padding, w, out, row0, ...[, late])}; a row is its offset from x, or negative in the padding. */
    Kernel kernel() {
        List<Kernel.Pointer> pointers = new ArrayList<>(List.of(Kernel.Pointer.in(INT8)));
        if (line.isApart()) {
            pointers.add(Kernel.Pointer.in(INT8));
        }
        pointers.add(Kernel.Pointer.in(INT32));
        pointers.add(Kernel.Pointer.out(INT8));
        return Kernel.of(
                name(),
                pointers,
                parameters().size() - pointers.size(),
                (out, html) -> Jtedsp_lineGenerated.render(out, html, name(), this, line, epilogue, parameters()));
    }
}
