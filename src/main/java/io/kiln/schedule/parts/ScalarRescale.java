// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.ProvenRescale;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a convolution or dense layer by {@link ProvenRescale} in plain loops. The accumulator is the plain sum
 * of inputs times weights: the input's zero point and the bias are in the constants.
 */
public final class ScalarRescale {
    private final ProvenRescale rescale;
    private final int low;
    private final int high;

    private ScalarRescale(ProvenRescale rescale, int low, int high) {
        this.rescale = rescale;
        this.low = low;
        this.high = high;
    }

    /** The rescaling; empty if the operator has none, ranges do not allow it, or other than negative results would be corrected. */
    public static Optional<ScalarRescale> of(ConvComputation conv) {
        return FoldedSums.of(conv)
                .flatMap(sums -> ProvenRescale.find(sums.reference(), sums.bounds())
                        .filter(r -> !r.hasCorrections() || r.corrected() == ProvenRescale.Corrected.NEGATIVE)
                        .map(r -> new ScalarRescale(r, sums.low(), sums.high())));
    }

    /** The constants. */
    public ProvenRescale proven() {
        return rescale;
    }

    /** Least result. */
    public int low() {
        return low;
    }

    /** Largest result. */
    public int high() {
        return high;
    }

    /** Whether negative results are corrected. */
    public boolean isSigned() {
        return rescale.hasCorrections();
    }

    /** Whether limits are narrower than int8. */
    public boolean isLimited() {
        return low > -128 || high < 127;
    }

    /** The part used by {@code BlockedKernel}: scale, shift, and further values. */
    public List<Expr> scalars() {
        List<Expr> scalars = new ArrayList<>(List.of(imm(1L << rescale.scaleBits()), imm(rescale.shift())));
        if (isSigned()) {
            scalars.add(imm(rescale.lateOffset()));
        }
        if (isLimited()) {
            scalars.addAll(List.of(imm(low), imm(high)));
        }
        return scalars;
    }

    /** Adds the table of constants: multiplier, offset and, if used, corrections, channel by channel. */
    public Buffer table(Tables tables) {
        return table(tables, 1);
    }

    /** The same for a kernel that loads the constants of several channels at a time. */
    public Buffer table(Tables tables, int block) {
        List<Integer> words = new ArrayList<>();
        for (int o = 0; o < rescale.channels().size(); o++) {
            words.addAll(rescale.constants(o));
        }
        int blocks = (rescale.channels().size() + block - 1) / block;
        while (words.size() < blocks * block * (rescale.hasCorrections() ? 3 : 2)) {
            words.add(0);
        }
        return tables.add(
                "rescale", DType.INT32, words.stream().mapToInt(w -> w).toArray());
    }

    /** The constants of one channel, loaded. */
    public record Constants(Expr multiplier, Expr offset, Optional<Expr> negative) {}

    /** Loads the constants of a channel. */
    public Constants load(BlockBuilder block, String suffix, Buffer table, Expr channel) {
        int stride = rescale.hasCorrections() ? 3 : 2;
        Expr first = mul(channel, stride);
        Expr multiplier = block.let("multiplier" + suffix, Exprs.load(table, first));
        Expr offset = block.let("offset" + suffix, Exprs.load(table, add(first, 1)));
        Optional<Expr> negative = rescale.hasCorrections()
                ? Optional.of(block.let("negative" + suffix, Exprs.load(table, add(first, 2))))
                : Optional.empty();
        return new Constants(multiplier, offset, negative);
    }

    /** Emits the conversion of a sum to an output element. */
    public void store(BlockBuilder block, String suffix, Constants constants, Expr sum, Buffer output, Expr index) {
        Expr scaled = mul(sum, 1L << rescale.scaleBits());
        Expr product = new Expr.Call(Intrinsics.HIGH_WORD, List.of(scaled, constants.multiplier()));
        Expr value = block.let("high" + suffix, add(product, constants.offset()));
        if (constants.negative().isPresent()) {
            Expr sign = shr(value, imm(31));
            value = sub(value, Exprs.bitAnd(sign, constants.negative().orElseThrow()));
        }
        Expr shifted = block.let("value" + suffix, shr(add(value, rescale.lateOffset()), imm(rescale.shift())));
        Expr limited = isLimited()
                ? new Expr.Call(Intrinsics.CLAMP, List.of(shifted, imm(low), imm(high)))
                : new Expr.Call(Intrinsics.SATURATE_8, List.of(shifted));
        block.store(output, index, limited);
    }
}
