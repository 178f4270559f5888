// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.parts;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.equal;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.notEqual;
import static io.kiln.tir.Exprs.select;
import static io.kiln.tir.Exprs.shr;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The rescaling of a convolution or dense layer by {@link ProvenRequantize} in plain loops. The accumulator is the plain sum
 * of inputs times weights: the input's zero point and the bias are in the constants.
 */
public final class ScalarRequantize {
    /** The scale of sums, as a power of two, that a core without long multiplication multiplies by three parts of the multiplier, without scaling them. */
    public static final int BITS_IN_PARTS = 11;

    private final ProvenRequantize rescale;
    private final RequantizeCorrection correction;
    private final int low;
    private final int high;

    private ScalarRequantize(ProvenRequantize rescale, int low, int high) {
        this.rescale = rescale;
        this.correction = RequantizeCorrection.of(rescale);
        this.low = low;
        this.high = high;
    }

    /** The rescaling; empty if the operator has none or ranges do not allow it. */
    public static Optional<ScalarRequantize> of(ConvComputation conv) {
        return FoldedSums.of(conv)
                .flatMap(sums -> sums.proven().map(r -> new ScalarRequantize(r, sums.low(), sums.high())));
    }

    /**
     * The rescaling with a scale of at most {@code 2^bits}, which makes the product cheap; otherwise with any.
     *
     * @param bits as many as a kernel wants
     */
    public static Optional<ScalarRequantize> of(ConvComputation conv, int bits) {
        return FoldedSums.of(conv)
                .flatMap(sums ->
                        sums.proven(bits).or(sums::proven).map(r -> new ScalarRequantize(r, sums.low(), sums.high())));
    }

    /** A rescaling of sums that are scaled by {@code 2^bits} or further; empty if there is none. */
    public static Optional<ScalarRequantize> ofScaled(ConvComputation conv, int bits) {
        return of(conv).filter(r -> r.rescale.scaleBits() >= bits);
    }

    /** The constants. */
    public ProvenRequantize proven() {
        return rescale;
    }

    /** Whether a core without long multiplication multiplies sums by three parts of the multiplier. */
    public boolean isInParts() {
        return rescale.scaleBits() == BITS_IN_PARTS;
    }

    /** Least result. */
    public int low() {
        return low;
    }

    /** Largest result. */
    public int high() {
        return high;
    }

    /** The correction before the shift. */
    public RequantizeCorrection correction() {
        return correction;
    }

    /** Whether limits are narrower than int8. */
    public boolean isLimited() {
        return low > -128 || high < 127;
    }

    /** Part of the name of a kernel for several layers. */
    public String suffix() {
        return (correction.isSigned() ? "_signed" : correction.suffix()) + (isLimited() ? "_limited" : "");
    }

    /** C's names of {@link #scalars}. */
    public List<String> parameters() {
        List<String> names = new ArrayList<>(List.of("scale", "shift"));
        correction.parameter().ifPresent(names::add);
        if (isLimited()) {
            names.addAll(List.of("low", "high"));
        }
        return names;
    }

    /** The last arguments of a kernel for several layers: scale, shift, what the correction needs, limits. */
    public List<Expr> scalars() {
        return scalars(false);
    }

    /**
     * The same.
     *
     * @param isScaleInBits whether the scale is the number of bits that sums are shifted by
     */
    public List<Expr> scalars(boolean isScaleInBits) {
        long scale = isScaleInBits ? rescale.scaleBits() : 1L << rescale.scaleBits();
        List<Expr> scalars = new ArrayList<>(List.of(imm(scale), imm(rescale.shift())));
        correction.parameter().ifPresent(p -> scalars.add(imm(correction.argument())));
        if (isLimited()) {
            scalars.addAll(List.of(imm(low), imm(high)));
        }
        return scalars;
    }

    /** Adds the table of constants: multiplier, offset and, if used, corrections, channel by channel. */
    public Buffer table(Tables tables) {
        return table(tables, 1);
    }

    /** The same in another order of the channels. */
    public Buffer table(Tables tables, int[] channels) {
        int[] words = Arrays.stream(channels)
                .flatMap(o -> rescale.constants(o).stream().mapToInt(w -> w))
                .toArray();
        return tables.add("rescale", DType.INT32, words);
    }

    /** The same for a kernel that loads the constants of several channels at a time. */
    public Buffer table(Tables tables, int block) {
        List<Integer> words = new ArrayList<>();
        for (int o = 0; o < rescale.channels().size(); o++) {
            words.addAll(rescale.constants(o));
        }
        int blocks = (rescale.channels().size() + block - 1) / block;
        while (words.size() < blocks * block * correction.constants()) {
            words.add(0);
        }
        return tables.add(
                "rescale", DType.INT32, words.stream().mapToInt(w -> w).toArray());
    }

    /** The constants of one channel, loaded. */
    public record Constants(Expr multiplier, Expr offset, List<Expr> corrections) {
        public Constants {
            corrections = List.copyOf(corrections);
        }
    }

    /** Loads the constants of a channel. */
    public Constants load(BlockBuilder block, String suffix, Buffer table, Expr channel) {
        Expr first = mul(channel, correction.constants());
        Expr multiplier = block.let("multiplier" + suffix, Exprs.load(table, first));
        Expr offset = block.let("offset" + suffix, Exprs.load(table, add(first, 1)));
        List<Expr> corrections = new ArrayList<>();
        for (int i = 0; i < correction.count(); i++) {
            corrections.add(block.let(correction.name(i) + suffix, Exprs.load(table, add(first, 2L + i))));
        }
        return new Constants(multiplier, offset, corrections);
    }

    /** Emits the conversion of a sum to an output element. */
    public void store(BlockBuilder block, String suffix, Constants constants, Expr sum, Buffer output, Expr index) {
        Expr scaled = mul(sum, 1L << rescale.scaleBits());
        Expr product = new Expr.Call(Intrinsics.HIGH_WORD, List.of(scaled, constants.multiplier()));
        Expr value = block.let("high" + suffix, add(product, constants.offset()));
        Expr corrected = add(corrected(value, constants.corrections()), rescale.lateOffset());
        Expr shifted = block.let("value" + suffix, shr(corrected, imm(rescale.shift())));
        Expr limited = isLimited()
                ? new Expr.Call(Intrinsics.CLAMP, List.of(shifted, imm(low), imm(high)))
                : new Expr.Call(Intrinsics.SATURATE_8, List.of(shifted));
        block.store(output, index, limited);
    }

    private Expr corrected(Expr value, List<Expr> corrections) {
        Expr argument = imm(correction.argument());
        return switch (correction.corrected()) {
            case NONE -> value;
            case NEGATIVE -> sub(value, Exprs.bitAnd(shr(value, imm(31)), corrections.get(0)));
            case ODD -> sub(value, select(notEqual(Exprs.bitAnd(value, argument), imm(0)), corrections.get(0), imm(0)));
            case EVEN -> sub(value, select(equal(Exprs.bitAnd(value, argument), imm(0)), corrections.get(0), imm(0)));
            case LISTED -> {
                Expr isListed = corrections.stream()
                        .map(c -> equal(value, c))
                        .reduce(Exprs::or)
                        .orElseThrow();
                yield sub(value, select(isListed, argument, imm(0)));
            }
        };
    }
}
