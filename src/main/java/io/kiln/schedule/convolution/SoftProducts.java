// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.convolution.Jtesoft_productsGenerated;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Layers of few products for each result by {@link SoftProductKernel}, pixel by pixel: depthwise convolutions, and others group by group. The kernel reads windows
 * where they lie, unless they cross the input's border or rows of a ring.
 */
public final class SoftProducts {
    /** Most taps with {@code optimize=size}: the kernel is unrolled. */
    private static final int MOST_TAPS_FOR_SIZE = 9;

    private final ConvComputation conv;
    private final SoftGroups groups;
    private final SoftProductKernel kernel;
    private final SoftWindow window;
    private final SoftProductWeights weights;
    private final Buffer bias;
    private final Buffer output;
    private final SoftLimits limits;

    private SoftProducts(ConvTask task, SoftCore core) {
        this.conv = task.conv();
        this.groups = SoftGroups.of(conv);
        this.kernel = kernel(conv, core);
        this.window =
                SoftWindow.of(task, readsInPlace(task.rows()) && !conv.window().isPadded());
        this.weights = SoftProductWeights.of(conv, task.tables(), core);
        this.bias = SoftConv.bias(conv, task.tables());
        this.output = task.buffers().output();
        this.limits = SoftLimits.of(conv.op());
    }

    /** Whether the kernel computes a layer: its results' lower limit is none or not negative, so that floats are compared as integers. */
    public static boolean suits(ConvComputation conv, SoftCore core, boolean isForSize) {
        SoftLimits limits = SoftLimits.of(conv.op());
        return conv.taps() <= (isForSize ? MOST_TAPS_FOR_SIZE : SoftProductKernel.mostTaps(core))
                && (limits.low() >= 0 || limits.low() == Integer.MIN_VALUE)
                && limits.high() >= 0;
    }

    private static SoftProductKernel kernel(ConvComputation conv, SoftCore core) {
        Window w = conv.window();
        return new SoftProductKernel(core, w.kernelH(), w.kernelW() * conv.channelsPerGroup());
    }

    /** The loops of a layer. */
    public static LayerLoops of(ConvTask task, SoftCore core) {
        return new SoftProducts(task, core).loops(task.rows());
    }

    /** Whether taps of a row are equally far apart in the input, and rows as well. */
    private boolean readsInPlace(Rows rows) {
        Window w = conv.window();
        boolean areEven =
                conv.channelsPerGroup() == 1 || w.kernelW() == 1 || (groups.count() == 1 && w.dilationW() == 1);
        return areEven && (w.kernelH() == 1 || rows.inputRings().stream().allMatch(ring -> ring == 0));
    }

    private LayerLoops loops(Rows rows) {
        return SoftConv.loops(conv, rows, (block, n, y, x) -> {
            SoftWindow.Place place = window.place(block, n, y, x);
            Expr first = SoftConv.pixel(conv, rows, n, y, x);
            if (!readsInPlace(rows)) {
                inScratch(block, rows, place, first);
            } else if (!conv.window().isPadded()) {
                inPlace(block, rows, place, first);
            } else {
                block.ifThenElse(
                        place.isWhole(),
                        inside -> inPlace(inside, rows, place, first),
                        across -> inScratch(across, rows, place, first));
            }
        });
    }

    private void inPlace(BlockBuilder block, Rows rows, SoftWindow.Place place, Expr first) {
        Window w = conv.window();
        int channels = conv.input().dim(3);
        int tap = conv.channelsPerGroup() == 1 ? channels * w.dilationW() : 1;
        int row = channels * conv.input().dim(2) * w.dilationH();
        groups.emit(block, (each, g) -> {
            Buffer in = window.inPlace(each, rows, place.from(groups.input(g)));
            call(each, in, g, List.of(imm(tap), imm(row - kernel.columns() * tap)), first);
        });
    }

    private void inScratch(BlockBuilder block, Rows rows, SoftWindow.Place place, Expr first) {
        int tap = SoftGroups.isDepthwise(conv) ? conv.channels() : 1;
        groups.emit(block, (each, g) -> {
            Buffer in = window.copied(each, rows, place.from(groups.input(g)));
            call(each, in, g, List.of(imm(tap), imm(0)), first);
        });
    }

    /** Calls the kernel for a group. */
    private void call(BlockBuilder block, Buffer in, Expr g, List<Expr> steps, Expr first) {
        List<Expr> scalars = new ArrayList<>(List.of(imm(groups.outputs()), imm(SoftGroups.isDepthwise(conv) ? 1 : 0)));
        scalars.addAll(steps);
        scalars.addAll(limits.arguments());
        Buffer table = groups.part(block, weights.table(), g, conv.taps());
        Buffer start = groups.part(block, weights.start(), g, 2);
        Buffer part = groups.part(block, bias, g, 1);
        Buffer out = block.mutableView("out", output, add(first, groups.output(g)));
        block.call(kernel.kernel(), List.of(in, table, start, part, out), scalars);
    }

    /**
     * Sums of a few products of floats in integers, each with the exponent of its largest product: depthwise convolutions, and layers with too few products for
     * {@link SoftKernel}.
     *
     * <p>A product is that of two integers, of 31 bits with their signs, without the 32 lowest bits: {@code p = m w >> 32}, where the input is
     * {@code m 2^(field - 157)}, and the weight {@code w 2^(scale - shift - 31)}, see {@link SoftProductWeights}. The product's value is then
     * {@code p 2^(place + scale - 156)} with {@code place = field - shift}. A sum consists of products shifted right by
     * {@code largest place - place + spare}, and of a bias likewise, so that it fits 32 bits. The largest product is at least {@code 2^(28 - spare)} and errs by
     * half a one there, or one on RISC-V, as each of the others does. With n products, {@code n 2^(spare - 28)} is less than the {@code (n - 1/4) 2^-24} which
     * the bound for a sum of floats leaves beside one final rounding and a weight's {@code 2^-26}, see {@link SoftPrecision}.
     *
     * <p>An exponent near its ends (an input may be infinite, NaN or below the normal numbers, or a result may be) makes the kernel compute the channel as
     * {@link SoftKernel} does where its sums are too small.
     *
     * @param core for which it is written
     * @param rows of taps
     * @param columns taps of a row
     */
    public record SoftProductKernel(SoftCore core, int rows, int columns) {
        /** The largest product's place is at least this, so that zeros are shifted out. */
        public static final int LEAST_TOP = 40;

        /** How far it may lie above, so that no shift exceeds 255. */
        public static final int TOPS = 179;

        /** Largest exponent field of a result, less one. */
        public static final int MOST_FIELD = 253;

        /** Number of taps. */
        public int taps() {
            return rows * columns;
        }

        /** Whether a tap is the last of its row. */
        public boolean endsRow(int tap) {
            return (tap + 1) % columns == 0;
        }

        /** Most taps for which sums are precise enough, and branches reach. */
        static int mostTaps(SoftCore core) {
            return switch (core) {
                case ARMV7_M -> 31;
                case ARMV6_M -> 16;
                case RV32 -> 15;
            };
        }

        /** Bits by which the largest product is shifted right, and one more where products have one bit more. */
        public int shift() {
            int sumBits = Integer.SIZE - Integer.numberOfLeadingZeros(taps());
            return Math.max(1, sumBits - 1) + extra(core);
        }

        /** Bits that products have above 30. */
        static int extra(SoftCore core) {
            return core == SoftCore.ARMV6_M ? 1 : 0;
        }

        /** {@code kernel(in, weights, starts, biases, out, channels, channel step, tap step, row step, low, high)}: all channels of a pixel. */
        Kernel kernel() {
            String name = "kiln_soft_products_" + rows + "x" + columns;
            String text = KernelSheet.text((out, html) -> Jtesoft_productsGenerated.render(out, html, name, this));
            return new Kernel(
                    name,
                    Pointer.lastWritten(FLOAT32, INT32, INT32, FLOAT32, FLOAT32),
                    Collections.nCopies(6, INT32),
                    List.of(),
                    text,
                    SoftKernel.USES);
        }
    }

    /**
     * The constants of {@link SoftProducts.SoftProductKernel}. A weight is a word whose lowest 5 bits say by how many bits it is smaller than the channel's scale, a power of
     * two; the whole word is the weight's significand of 31 bits, chosen so that the lowest bits do no harm:
     *
     * <pre>
     * word * 2^(scale - 31 - (word &amp; 31))   is   weight, within 2^-26 of it
     * </pre>
     *
     * <p>A weight less than 2^-31 of its channel's largest one is within 2^-56 of that, but has the sign that it has: its product with an infinite input is infinite.
     *
     * @param table words by channel, then by tap
     * @param start two words for each channel: its bias as a product, and that product's place above the channel's scale; a bias that is too small to count is 0
     */
    private record SoftProductWeights(Buffer table, Buffer start) {
        private static final int SHIFT_BITS = 5;
        private static final int MOST_SHIFT = (1 << SHIFT_BITS) - 1;
        private static final int WORD_BITS = 31;
        private static final int PRODUCT_BITS = 30;
        private static final int HALF = 16;

        /** The exponent field of a number whose significand has 30 bits, less its power of two. */
        private static final int FIELD = 156;

        /** A bias with a lower place does not count beside the least product for which the kernel takes the usual way. */
        private static final int LEAST_PLACE = -20;

        /** A place that makes the kernel take the other way. */
        private static final int NO_PLACE = 1000;

        /** Makes the tables. */
        static SoftProductWeights of(ConvComputation conv, Tables tables, SoftCore core) {
            int[] words = new int[conv.channels() * conv.taps()];
            int[] starts = new int[2 * conv.channels()];
            for (int o = 0; o < conv.channels(); o++) {
                boolean isZero = true;
                int scale = Integer.MIN_VALUE;
                float[] weights = conv.realTaps(o);
                for (float weight : weights) {
                    isZero &= weight == 0;
                    scale = weight == 0 ? scale : Math.max(scale, exponent(weight));
                }
                int used = isZero ? 0 : scale;
                for (int tap = 0; tap < weights.length; tap++) {
                    words[o * weights.length + tap] = word(weights[tap], used);
                }
                int channel = o;
                float bias = conv.op().bias().map(b -> b.real(channel)).orElse(0f);
                start(starts, o, bias, used, isZero, SoftProducts.SoftProductKernel.extra(core));
            }
            return new SoftProductWeights(
                    tables.add("weight", DType.INT32, bytes(words), "27 bits, shifted right by the lowest 5"),
                    tables.add("start", DType.INT32, bytes(starts), "bias; its place and the scale"));
        }

        private static Bytes bytes(int[] words) {
            ByteBuffer data = ByteBuffer.allocate(Integer.BYTES * words.length).order(ByteOrder.LITTLE_ENDIAN);
            data.asIntBuffer().put(words);
            return Bytes.wrap(data.array());
        }

        /** The exponent of the power of two above a magnitude that is not 0. */
        private static int exponent(float value) {
            return Math.getExponent((double) value) + 1;
        }

        private static int word(float weight, int scale) {
            if (weight == 0) {
                return MOST_SHIFT;
            }
            int shift = Math.min(MOST_SHIFT, scale - exponent(weight));
            double significand = Math.scalb((double) weight, WORD_BITS - scale + shift);
            int upper = (int) Math.rint(Math.scalb(significand - shift, -SHIFT_BITS));
            int ofSameSign = weight > 0 ? Math.max(1, upper) : Math.min(-1, upper);
            return (ofSameSign << SHIFT_BITS) + shift;
        }

        private static void start(int[] starts, int o, float bias, int scale, boolean isZero, int extra) {
            int place = bias == 0 ? LEAST_PLACE : exponent(bias) - PRODUCT_BITS + FIELD - scale;
            boolean counts = bias != 0 && place >= LEAST_PLACE;
            starts[2 * o] = counts ? (int) Math.scalb((double) bias, PRODUCT_BITS - exponent(bias)) << extra : 0;
            int used = isZero ? NO_PLACE : Math.max(LEAST_PLACE, Math.min(NO_PLACE, place));
            starts[2 * o + 1] = used << HALF | ((scale + 1 - extra) & 0xFFFF);
        }
    }
}
