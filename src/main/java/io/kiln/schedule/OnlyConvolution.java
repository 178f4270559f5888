// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.List;
import java.util.Optional;

/**
 * Choices that depend on the other layers of a model: if size is optimized, a kernel for all convolutions pays only if there are several; otherwise
 * {@link SmallConvolutions}.
 */
public final class OnlyConvolution implements LayerChoices {
    private OnlyConvolution() {}

    /** The choices for a model with these operators on a core. */
    public static LayerChoices of(List<FusedOperator> operators, Optimize optimize, CpuFeatures features) {
        boolean isOne = optimize == Optimize.SIZE
                && operators.stream()
                                .filter(Dispatch::hasChoice)
                                .map(ConvComputation::of)
                                .filter(OnlyConvolution::isConvolution)
                                .count()
                        == 1;
        return isOne ? new OnlyConvolution() : SmallConvolutions.of(operators, optimize, features);
    }

    private static boolean isConvolution(ConvComputation conv) {
        return !conv.depthwise() && conv.output().dim(1) * conv.output().dim(2) > 1;
    }

    @Override
    public Optional<Choice<?>> choose(FusedOperator op, Workload workload) {
        return isConvolution(workload.conv()) ? LayerSchedules.chooseOnly(workload) : Optional.empty();
    }
}
