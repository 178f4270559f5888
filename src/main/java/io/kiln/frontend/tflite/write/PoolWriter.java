// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.write;

import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.LayerOptions.Pool2D;
import io.kiln.frontend.tflite.schema.Padding;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.quantize.plan.PaddingScheme;
import java.util.List;
import java.util.Optional;

/**
 * Writes pools. A maximum pool whose padding matches no TensorFlow Lite scheme gets a PADV2 before it; a mean pool with
 * such padding is not written.
 */
final class PoolWriter implements NodeWriter {
    @Override
    public boolean write(Emission node) {
        Window window = ((Pool2d) node.op()).window();
        boolean isMaximum = node.op() instanceof MaxPool2d;
        Optional<PaddingScheme> scheme = PaddingScheme.of(window, node.dataShape(0));
        boolean isDilated = window.dilationH() > 1 || window.dilationW() > 1;
        if (isDilated || (scheme.isEmpty() && !isMaximum)) {
            return false;
        }
        Emission pool = Clamps.before(node);
        int data = scheme.isPresent() ? node.data(0) : Pads.lowest(node, window);
        Padding padding = Padding.valueOf(scheme.orElse(PaddingScheme.VALID).name());
        pool.write(
                isMaximum ? BuiltinOperator.MAX_POOL_2D : BuiltinOperator.AVERAGE_POOL_2D,
                node.version(1, 2, 3),
                List.of(data),
                LayerWriter.strides(Pool2D.STRIDE_H, Pool2D.STRIDE_W, window, Options.of(Pool2D.TYPE))
                        .with(Pool2D.PADDING, padding.code())
                        .with(Pool2D.FILTER_HEIGHT, window.kernelH())
                        .with(Pool2D.FILTER_WIDTH, window.kernelW())
                        .with(Pool2D.FUSED_ACTIVATION_FUNCTION, Clamps.fused(node)));
        Clamps.after(node, pool);
        return true;
    }
}
