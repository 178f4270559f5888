// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.partition.ExternalCall;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.Match;
import java.util.List;

/** Calls of {@code arm_avgpool_*} and {@code arm_max_pool_*}. */
final class PoolCode {
    private PoolCode() {}

    static CompositeCode of(ExternalFunction function, CmsisNnOptions options) {
        Match match = function.body();
        Window window = ((Pool2d) match.root().op()).window();
        Shape input = match.argument(match.root(), 0).shape();
        Shape output = match.result().shape();
        boolean isAverage = function.composite().name().equals(CmsisNnPatterns.AVG_POOL2D);
        long bytes = isAverage ? new BufferSizes(options).average(input) : 0;
        String name = (isAverage ? "arm_avgpool_" : "arm_max_pool_") + CompositeCode.suffix(match);
        return new CompositeCode(
                new ExternalCall(List.of(), bytes, name),
                List.of(
                        CompositeCode.context(bytes),
                        "const cmsis_nn_pool_params pool_params = {.stride = {.w = " + window.strideW() + ", .h = "
                                + window.strideH() + "}, .padding = {.w = " + window.padLeft() + ", .h = "
                                + window.padTop() + "}, " + CompositeCode.activation(match) + "};",
                        CompositeCode.dims("input_dims", 1, input.dim(1), input.dim(2), input.dim(3)),
                        CompositeCode.dims("filter_dims", 1, window.kernelH(), window.kernelW(), 1),
                        CompositeCode.dims("output_dims", 1, output.dim(1), output.dim(2), output.dim(3))),
                name,
                List.of(
                        "&context",
                        "&pool_params",
                        "&input_dims",
                        "input_",
                        "&filter_dims",
                        "&output_dims",
                        "output_"));
    }
}
