// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Limits;
import io.kiln.lower.ProvenRequantize;
import io.kiln.lower.Requantization;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An int8 convolution or dense layer whose accumulator is the plain sum of inputs times weights: the input's zero point
 * is in the biases. Exact if padding is the zero point.
 *
 * @param requantization the rescaling after the sums
 * @param bias bias of each channel minus the zero point times its weights
 * @param bounds largest magnitude of each channel's plain sum, without the bias
 * @param low least result
 * @param high largest result
 * @param proofs the layer's proofs
 */
public record FoldedSums(
        Requantization requantization, List<Integer> bias, List<Long> bounds, int low, int high, LayerProofs proofs) {
    public FoldedSums {
        bias = List.copyOf(bias);
        bounds = List.copyOf(bounds);
    }

    /** The folded sums of an operator; empty for other types, weights with a zero point, or a bias beyond 32 bits. */
    public static Optional<FoldedSums> of(ConvComputation conv) {
        return conv.proofs().sums(conv);
    }

    static Optional<FoldedSums> compute(ConvComputation conv) {
        FusedOperator op = conv.op();
        if (op.requantization().isEmpty()
                || op.type().dtype() != DType.INT8
                || op.rootTypes().get(0).dtype() != DType.INT8
                || conv.weight().type().dtype() != DType.INT8
                || conv.kernelZeroPoint() != 0) {
            return Optional.empty();
        }
        List<Integer> bias = new ArrayList<>();
        List<Long> bounds = new ArrayList<>();
        for (TapSums sums : TapSums.of(conv)) {
            int channel = bias.size();
            long folded = op.bias().map(b -> b.integer(channel)).orElse(0L) - conv.inputZeroPoint() * sums.sum();
            if (folded != (int) folded) {
                return Optional.empty();
            }
            bias.add((int) folded);
            bounds.add(128 * sums.magnitude());
        }
        Limits limits = Limits.of(op);
        return Optional.of(new FoldedSums(
                op.requantization().orElseThrow(),
                bias,
                bounds,
                (int) limits.low(),
                (int) limits.high(),
                conv.proofs()));
    }

    /** The reference's function of the accumulators. */
    public ProvenRequantize.Reference reference() {
        return new ProvenRequantize.Reference(requantization, bias, low, high);
    }

    /** Searches for a requantization of these accumulators, as {@link ProvenRequantize#find(ProvenRequantize.Reference, List)} does. */
    public Optional<ProvenRequantize> proven() {
        return proofs.find(reference(), bounds);
    }

    /** Searches for a requantization of these accumulators, as {@link ProvenRequantize#find(ProvenRequantize.Reference, List, int)} does. */
    public Optional<ProvenRequantize> proven(int mostScaleBits) {
        return proofs.find(reference(), bounds, mostScaleBits);
    }

    /** One channel in place of all, whose accumulator has the bias in it; empty if channels are rescaled differently. */
    public Optional<FoldedSums> started() {
        return requantization.isPerChannel()
                ? Optional.empty()
                : Optional.of(new FoldedSums(requantization, List.of(0), List.of(largest()), low, high, proofs));
    }

    /** Largest magnitude of any accumulator without its bias. */
    public long largestSum() {
        return bounds.stream().mapToLong(b -> b).max().orElse(0);
    }

    /** Largest magnitude of any accumulator with its bias. */
    public long largest() {
        long largest = 0;
        for (int o = 0; o < bias.size(); o++) {
            largest = Math.max(largest, Math.abs((long) bias.get(o)) + bounds.get(o));
        }
        return largest;
    }

    /** Whether the results have a narrower range than int8. */
    public boolean isLimited() {
        return low > DType.INT8.min() || high < DType.INT8.max();
    }
}
