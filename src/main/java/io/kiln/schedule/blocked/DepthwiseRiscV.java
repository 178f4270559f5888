// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.ir.op.Window;
import io.kiln.lower.ProvenRescale;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.RescaleCorrection;
import io.kiln.schedule.parts.RiscVRescale;
import io.kiln.schedule.parts.ScalarRescale;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@link DepthwiseBlock} for RV32IM. Six pixels of a 3x3 window with stride 1 are about 180 instructions for 54 products: 33 LB, 54 MUL, 48
 * ADD, 40 to rescale and store.
 *
 * <pre>
 * a0    inputs of a channel, offset so that loads reach all rows
 * a1    weights          a3    output
 * a2    constants
 * then  end of the channels, lower limit before and after the shift, upper limit, an input, a product and another one, row and elements between rows
 *       where loads do not reach all rows, weights of a window's row, sums
 * </pre>
 */
final class DepthwiseRiscV implements DepthwiseBlock.Assembly {
    private static final int REACH = 2047;
    private static final int MOST_PIXELS = 6;
    /** The rescaling uses two registers of the weights. */
    private static final int LEAST_WEIGHTS = 2;
    /** First label number for results below the lower limit. */
    private static final int LOW_LABEL = 100;

    private static final String END = "a4";
    private static final String LOWEST = "a5";
    private static final String HIGHEST = "a6";
    private static final String LOW = "a7";
    private static final String INPUT = "t0";
    private static final String PRODUCT = "t1";
    private static final String OTHER_PRODUCT = "t6";
    private static final String ROW = "t2";
    private static final String ROW_ELEMENTS = "t3";
    private static final List<String> OTHERS = Stream.concat(
                    Stream.of("t4", "t5"), IntStream.range(0, 12).mapToObj(i -> "s" + i))
            .toList();

    @Override
    public int mostPixels(Window window) {
        return Math.max(0, Math.min(MOST_PIXELS, OTHERS.size() - Math.max(LEAST_WEIGHTS, window.kernelW())));
    }

    @Override
    public boolean suits(DepthwiseBlock block) {
        return block.place(0, block.columns() - 1) <= REACH
                && block.pixels() * block.outputs() <= REACH
                && block.kernelH() * block.kernelW() <= REACH;
    }

    @Override
    public String condition() {
        return AsmText.RV32_MUL;
    }

    @Override
    public String lines(DepthwiseBlock block) {
        AsmText asm = new AsmText();
        int saved = Math.max(0, sums(block) + block.pixels() - 2);
        int frame = (4 * saved + 15) / 16 * 16;
        if (saved > 0) {
            asm.line("addi sp, sp, -%d", frame);
        }
        for (int i = 0; i < saved; i++) {
            asm.line("sw s%d, %d(sp)", i, 4 * i);
        }
        enter(asm, block);
        asm.line("1:");
        Products products = new Products(asm);
        for (int ky = 0; ky < block.kernelH(); ky++) {
            row(asm, block, products, ky);
        }
        products.end();
        rescale(asm, block);
        store(asm, block);
        asm.line("3:");
        for (int i = 0; i < saved; i++) {
            asm.line("lw s%d, %d(sp)", i, 4 * i);
        }
        if (saved > 0) {
            asm.line("addi sp, sp, %d", frame);
        }
        asm.line("ret");
        return asm.lines();
    }

    /** Offset of the pointer to inputs, so that loads reach in both directions. */
    private static int ahead(DepthwiseBlock block) {
        return block.place(block.kernelH() - 1, block.columns() - 1) > REACH ? REACH + 1 : 0;
    }

    /** Whether no pointer reaches all rows. */
    private static boolean isFar(DepthwiseBlock block) {
        return block.place(block.kernelH() - 1, block.columns() - 1) > 2 * REACH + 1;
    }

    private static String weight(int kx) {
        return OTHERS.get(kx);
    }

    private static int sums(DepthwiseBlock block) {
        return Math.max(LEAST_WEIGHTS, block.kernelW());
    }

    private static String sum(DepthwiseBlock block, int pixel) {
        return OTHERS.get(sums(block) + pixel);
    }

    private static void enter(AsmText asm, DepthwiseBlock block) {
        ScalarRescale rescale = block.rescale();
        asm.line("li %s, %d", END, block.channels());
        if (isFar(block)) {
            asm.line("li %s, %d", ROW_ELEMENTS, block.row());
        } else if (ahead(block) > 0) {
            asm.line("li %s, %d", PRODUCT, ahead(block));
            asm.line("add a0, a0, %s", PRODUCT);
        }
        asm.line("add %s, a0, %s", END, END);
        asm.line("li %s, %d", LOW, rescale.low());
        asm.line("li %s, %d", LOWEST, rescale.low() << rescale.proven().shift());
        asm.line("li %s, %d", HIGHEST, rescale.high() << rescale.proven().shift());
    }

    private static void row(AsmText asm, DepthwiseBlock block, Products products, int ky) {
        boolean far = isFar(block);
        if (far && ky > 0) {
            asm.line("add %s, %s, %s", ROW, ky == 1 ? "a0" : ROW, ROW_ELEMENTS);
        }
        for (int kx = 0; kx < block.kernelW(); kx++) {
            asm.line("lb %s, %d(a1)", weight(kx), ky * block.kernelW() + kx);
        }
        for (int column = 0; column < block.columns(); column++) {
            if (!block.reads(column)) {
                continue;
            }
            if (far) {
                asm.line("lb %s, %d(%s)", INPUT, block.place(0, column), ky == 0 ? "a0" : ROW);
            } else {
                asm.line("lb %s, %d(a0)", INPUT, block.place(ky, column) - ahead(block));
            }
            for (int p = 0; p < block.pixels(); p++) {
                int kx = block.tap(column, p);
                String sum = sum(block, p);
                if (kx >= 0 && ky + kx == 0) {
                    asm.line("mul %s, %s, %s", sum, INPUT, weight(kx));
                } else if (kx >= 0) {
                    products.add(sum, weight(kx));
                }
            }
        }
    }

    /** Products that are added to their sums while the next one is computed. */
    private static final class Products {
        private final AsmText asm;
        private String product = PRODUCT;
        private Optional<String> addition = Optional.empty();

        Products(AsmText asm) {
            this.asm = asm;
        }

        /** Multiplies the input by a weight, for a sum. */
        void add(String sum, String weight) {
            asm.line("mul %s, %s, %s", product, INPUT, weight);
            end();
            addition = Optional.of(String.format(Locale.ROOT, "add %s, %s, %s", sum, sum, product));
            product = product.equals(PRODUCT) ? OTHER_PRODUCT : PRODUCT;
        }

        /** Adds what is left. */
        void end() {
            addition.ifPresent(asm::line);
            addition = Optional.empty();
        }
    }

    private static void rescale(AsmText asm, DepthwiseBlock block) {
        ProvenRescale r = block.rescale().proven();
        String multiplier = weight(0);
        String offset = weight(1);
        List<String> sums =
                IntStream.range(0, block.pixels()).mapToObj(p -> sum(block, p)).toList();
        asm.line("lw %s, 0(a2)", multiplier);
        asm.line("lw %s, 4(a2)", offset);
        if (r.scaleBits() > 0) {
            sums.forEach(sum -> asm.line("slli %s, %s, %d", sum, sum, r.scaleBits()));
        }
        RiscVRescale.highWords(asm, sums, multiplier, offset);
        RescaleCorrection correction = block.rescale().correction();
        for (int i = 0; i < correction.count(); i++) {
            asm.line("lw %s, %d(a2)", offset, 8 + 4 * i);
            if (i == 0) {
                asm.line("li %s, %d", multiplier, correction.argument());
            }
            correction.applyGivenOnRiscV(asm, sums, offset, multiplier, PRODUCT, 2);
        }
    }

    private static void store(AsmText asm, DepthwiseBlock block) {
        ProvenRescale r = block.rescale().proven();
        for (int p = 0; p < block.pixels(); p++) {
            String sum = sum(block, p);
            asm.line("blt %s, %s, %df", sum, LOWEST, LOW_LABEL + p);
            asm.line("ble %s, %s, 2f", sum, HIGHEST);
            asm.line("mv %s, %s", sum, HIGHEST);
            asm.line("2:");
            asm.line("srai %s, %s, %d", sum, sum, r.shift());
            asm.line("sb %s, %d(a3)", sum, p * block.outputs());
            asm.line("%d:", 2 * LOW_LABEL + p);
        }
        asm.line("addi a0, a0, 1");
        asm.line("addi a1, a1, %d", block.kernelH() * block.kernelW());
        asm.line("addi a2, a2, %d", 4 * block.rescale().correction().constants());
        asm.line("addi a3, a3, %d", block.multiplier());
        asm.line("bne a0, %s, 1b", END);
        asm.line("j 3f");
        for (int p = 0; p < block.pixels(); p++) {
            asm.line("%d:", LOW_LABEL + p);
            asm.line("sb %s, %d(a3)", LOW, p * block.outputs());
            asm.line("j %db", 2 * LOW_LABEL + p);
        }
    }
}
