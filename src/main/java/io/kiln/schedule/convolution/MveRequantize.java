// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.base.FixedPoint;
import io.kiln.ir.op.Rounding;
import io.kiln.lower.Epilogue;
import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.Requantization;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.FoldedSums;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Constants that rescale accumulators of raw int8 inputs to int8 outputs exactly like the reference.
 *
 * @param sums the accumulators
 * @param proven the rescaling relative to the zero point if it is ONNX Runtime's; empty if it is TensorFlow Lite's
 */
public record MveRequantize(FoldedSums sums, Optional<ProvenRequantize> proven) {

    private static final int WORDS = 3;

    /** The constants of a convolution; empty if the vector instructions would not be exact. */
    public static Optional<MveRequantize> of(ConvComputation conv) {
        return FoldedSums.of(conv).flatMap(MveRequantize::of);
    }

    private static Optional<MveRequantize> of(FoldedSums sums) {
        return sums.requantization().rounding() == Rounding.ONNX
                ? proven(sums).map(found -> new MveRequantize(sums, Optional.of(found)))
                : Optional.of(new MveRequantize(sums, Optional.empty())).filter(r -> suits(sums));
    }

    private static Optional<ProvenRequantize> proven(FoldedSums sums) {
        Requantization r = sums.requantization();
        ProvenRequantize.Reference reference = new ProvenRequantize.Reference(
                r.centred(), sums.bias(), sums.low() - r.outputZeroPoint(), sums.high() - r.outputZeroPoint());
        return sums.proofs().find(reference, sums.bounds()).filter(MveFloor::suits);
    }

    private static boolean suits(FoldedSums sums) {
        Requantization r = sums.requantization();
        return r.rounding() == Rounding.TFLITE
                && r.inputZeroPoint() == 0
                && r.multipliers().stream().allMatch(m -> m >= 0)
                && sums.largest() <= Integer.MAX_VALUE;
    }

    /** Whether a shift goes to the left, or rounding could leave 32 bits: all of TensorFlow Lite's steps are needed. */
    boolean isAny() {
        return proven.isEmpty() && !Epilogue.isFast(requantization(), sums.largest());
    }

    public Requantization requantization() {
        return sums.requantization();
    }

    /** Least result. */
    public int low() {
        return sums.low();
    }

    /** Largest result. */
    public int high() {
        return sums.high();
    }

    /** Whether halves below zero must be rounded away from zero; otherwise the lower limit hides the difference. */
    boolean hasNegatives() {
        return proven.isEmpty() && !isAny() && sums.low() < requantization().outputZeroPoint();
    }

    /** Whether the limits need more than saturation from 16 to 8 bits. */
    boolean hasLimits() {
        boolean narrow = !sums.isLimited() && !isAny();
        Requantization r = requantization();
        if (proven.isPresent()) {
            for (int o = 0; o < sums.bounds().size(); o++) {
                long most = proven.get().mostMagnitude(o, sums.bounds().get(o));
                narrow &= most + Math.abs(r.outputZeroPoint()) <= Short.MAX_VALUE;
            }
            return !narrow;
        }
        for (int o = 0; o < r.multipliers().size(); o++) {
            int most = FixedPoint.multiplyByQuantizedMultiplier(
                    (int) sums.largest(), r.multipliers().get(o), r.shifts().get(o));
            narrow &= most + 1 + Math.abs(r.outputZeroPoint()) <= Short.MAX_VALUE;
        }
        return !narrow;
    }

    /**
     * Appends biases, multipliers and shifts of a block of channels, or corrections, multipliers and offsets; those past the
     * last channel are zero.
     */
    void putBlock(ByteBuffer packed, int first, int block) {
        putBlock(packed, first, block, 1);
    }

    /** The same for channels that are a step apart. */
    public void putBlock(ByteBuffer packed, int first, int block, int step) {
        int channels = sums.bias().size();
        for (int word = 0; word < WORDS; word++) {
            for (int o = first; o < first + block * step; o += step) {
                packed.putInt(o < channels ? word(word, o) : proven.isEmpty() && word == WORDS - 1 ? -1 : 0);
            }
        }
    }

    private int word(int word, int channel) {
        Requantization r = requantization();
        int scale = r.isPerChannel() ? channel : 0;
        Optional<ProvenRequantize.Channel> of = proven.map(p -> p.channels().get(channel));
        return switch (word) {
            case 0 ->
                of.map(c -> c.corrections().stream().findFirst().orElse(0))
                        .orElse(sums.bias().get(channel));
            case 1 ->
                of.map(ProvenRequantize.Channel::multiplier)
                        .orElse(r.multipliers().get(scale));
            default ->
                of.map(ProvenRequantize.Channel::offset).orElse(r.shifts().get(scale));
        };
    }
}
