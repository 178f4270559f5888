// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.kiln.base.Bytes;
import io.kiln.frontend.onnx.OnnxRuntime;
import io.kiln.ir.Parameter;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;

/**
 * What ONNX Runtime quantizes at the end of a model whose layer sums floats. Its sums are rounded in the order of its kernel for the
 * computer's processor, so that one that lies at a half, up to these roundings, may become either byte.
 */
final class RealResults {
    /** In steps of the result; the models' layers sum fewer than 100 products. */
    private static final double ROUNDINGS = 1e-3;

    private RealResults() {}

    /**
     * Whether answers differ by one only where the real results lie at halves.
     *
     * @param file a model whose only output is computed by QuantizeLinear from a layer
     */
    static boolean areAtHalves(
            Bytes file, List<Parameter> params, List<Bytes> data, List<Bytes> answers, List<Bytes> ours) {
        try {
            ModelProto model = ModelProto.parseFrom(file.toArray());
            List<NodeProto> nodes = model.getGraph().getNodeList();
            NodeProto last = nodes.get(nodes.size() - 1);
            if (!last.getOpType().equals("QuantizeLinear") || answers.size() > 1) {
                return false;
            }
            ModelProto.Builder more = model.toBuilder();
            more.getGraphBuilder().addOutput(ValueInfoProto.newBuilder().setName(last.getInput(0)));
            float scale = model.getGraph().getInitializerList().stream()
                    .filter(tensor -> tensor.getName().equals(last.getInput(1)))
                    .map(RealResults::first)
                    .findFirst()
                    .orElseThrow();
            Bytes reals = OnnxRuntime.run(Bytes.wrap(more.build().toByteArray()), params, data)
                    .get(1);
            return areAtHalves(reals.buffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer(), scale, answers, ours);
        } catch (com.google.protobuf.InvalidProtocolBufferException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static float first(TensorProto tensor) {
        return tensor.getRawData()
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .getFloat();
    }

    private static boolean areAtHalves(FloatBuffer reals, float scale, List<Bytes> answers, List<Bytes> ours) {
        byte[] theirs = answers.get(0).toArray();
        byte[] own = ours.get(0).toArray();
        for (int i = 0; i < theirs.length; i++) {
            double steps = reals.get(i) / scale;
            boolean isAtHalf = Math.abs(steps - Math.floor(steps) - 0.5) < ROUNDINGS;
            if (theirs[i] != own[i] && !(isAtHalf && Math.abs((byte) (theirs[i] - own[i])) == 1)) {
                return false;
            }
        }
        return true;
    }
}
