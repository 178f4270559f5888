// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Requantization;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Calls of {@code arm_fully_connected_*}. */
final class DenseCode {
    private final Match match;
    private final CmsisNnOptions options;
    private final Shape weight;
    private final int inputOffset;

    DenseCode(ExternalFunction function, CmsisNnOptions options) {
        this.match = function.body();
        this.options = options;
        this.weight = match.argument(match.root(), 1).shape();
        this.inputOffset = -LayerTables.zeroPoint(match.root(), Layer.INPUT_ZERO_POINT);
    }

    CompositeCode code() {
        Optional<Constant> bias = LayerTables.bias(match);
        Requantization by = LayerConditions.requantization(match);
        List<ExternalCall.Table> tables = new ArrayList<>();
        tables.add(LayerTables.filter(match));
        bias.map(LayerTables::bias).ifPresent(tables::add);
        List<String> lines = new ArrayList<>();
        if (takesSums()) {
            tables.add(LayerTables.ints("kernel_sum", sums(bias)));
            lines.add("const cmsis_nn_context context = {.buf = (void*)kernel_sum_, .size = "
                    + weight.dim(0) * Integer.BYTES + "};");
        } else {
            lines.add(CompositeCode.context(0));
        }
        lines.addAll(params(by));
        String function = "arm_fully_connected_" + CompositeCode.suffix(match);
        return new CompositeCode(
                new ExternalCall(tables, 0, function),
                lines,
                function,
                List.of(
                        "&context",
                        "&fc_params",
                        "&quant_params",
                        "&input_dims",
                        "input_",
                        "&filter_dims",
                        "filter_",
                        "&bias_dims",
                        bias.isPresent() ? "bias_" : "NULL",
                        "&output_dims",
                        "output_"));
    }

    private List<String> params(Requantization by) {
        int batch = match.result().shape().dim(0);
        int depth = weight.dim(1);
        int units = weight.dim(0);
        return List.of(
                "const cmsis_nn_fc_params fc_params = {.input_offset = " + inputOffset
                        + ", .filter_offset = 0, .output_offset = " + by.outputZeroPoint() + ", "
                        + CompositeCode.activation(match) + "};",
                "const cmsis_nn_per_tensor_quant_params quant_params = {.multiplier = "
                        + by.multipliers().get(0) + ", .shift = " + by.shifts().get(0) + "};",
                CompositeCode.dims("input_dims", batch, 1, 1, depth),
                CompositeCode.dims("filter_dims", depth, 1, 1, units),
                CompositeCode.dims("bias_dims", 1, 1, 1, units),
                CompositeCode.dims("output_dims", batch, 1, 1, units));
    }

    private boolean takesSums() {
        return options.isMve()
                && options.version().takesKernelSums()
                && match.result().dtype() == DType.INT8;
    }

    /** What {@code arm_vector_sum_s8} would compute: the sum of each unit's weights, or with the input's offset and the bias. */
    private int[] sums(Optional<Constant> bias) {
        Constant weights = match.root().constant(1);
        boolean isWhole = options.version().hasWholeKernelSums();
        int[] sums = new int[weight.dim(0)];
        for (int unit = 0; unit < sums.length; unit++) {
            int sum = 0;
            for (int i = 0; i < weight.dim(1); i++) {
                sum += (int) weights.integer(unit * weight.dim(1) + i);
            }
            int added = unit;
            int extra = bias.map(constant -> (int) constant.integer(added)).orElse(0);
            sums[unit] = isWhole ? sum * inputOffset + extra : sum;
        }
        return sums;
    }
}
