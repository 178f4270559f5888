// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.PlannedNode;

/**
 * The votes of the leaves of a {@link TreeEnsemble} as integers: {@code weight = scale[target] * vote}, symmetric, with the scale that the
 * largest weight for a target needs. Comparisons stay exact, and a leaf takes a quarter or half of the bytes.
 *
 * @param votes (votes), int8 or int16
 * @param scales (targets), float32
 */
public record QuantizedVotes(Constant votes, Constant scales) {
    /** Place of the constant of the votes' weights among the arguments. */
    public static final int WEIGHTS = 5;

    private static final int ROOTS = 2;
    private static final int TARGETS = 4;

    /** Whether sums of the votes fit int32. */
    static boolean isPossible(Node node) {
        return node.argTypes().get(ROOTS).shape().dim(0) <= TreeEnsemble.MOST_QUANTIZED
                && node.argTypes().get(WEIGHTS).dtype().isFloat();
    }

    /** The votes of a planned ensemble, of as many bits as activations in its precision. */
    public static QuantizedVotes of(PlannedNode planned) {
        Constant targets = (Constant) planned.node().args().get(TARGETS);
        Constant weights = (Constant) planned.node().args().get(WEIGHTS);
        DType dtype = planned.precision().activation();
        float[] scales = new float[((TreeEnsemble) planned.node().op()).targets()];
        for (int i = 0; i < weights.elements(); i++) {
            int target = (int) targets.integer(i);
            scales[target] = Math.max(scales[target], Math.abs(weights.real(i)) / dtype.max());
        }
        Constant votes = QuantizedConstants.limited(weights, dtype, -dtype.max(), dtype.max(), i -> {
            float scale = scales[(int) targets.integer(i)];
            return scale == 0 ? 0 : (double) weights.real(i) / scale;
        });
        return new QuantizedVotes(votes, Constant.vector(scales));
    }
}
