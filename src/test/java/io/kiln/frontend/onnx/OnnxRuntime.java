// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** ONNX Runtime on the CPU, without optimisations of the graph: what models must answer. */
public final class OnnxRuntime {
    private OnnxRuntime() {}

    /**
     * Runs a model. Inputs of double get floats, and outputs of double are rounded to floats, as Kiln's are.
     *
     * @param params the inputs' names and types, as Kiln imports them
     * @param inputs their elements, little-endian
     * @return the outputs' elements, likewise
     */
    public static List<Bytes> run(Bytes model, List<Parameter> params, List<Bytes> inputs) {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        Map<String, OnnxTensor> tensors = new LinkedHashMap<>();
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.NO_OPT);
            options.setIntraOpNumThreads(1);
            try (OrtSession session = environment.createSession(model.toArray(), options)) {
                for (int i = 0; i < params.size(); i++) {
                    tensors.put(params.get(i).name(), tensor(environment, session, params.get(i), inputs.get(i)));
                }
                try (OrtSession.Result result = session.run(tensors)) {
                    List<Bytes> outputs = new ArrayList<>();
                    for (Map.Entry<String, OnnxValue> output : result) {
                        outputs.add(bytes((OnnxTensor) output.getValue()));
                    }
                    return outputs;
                }
            }
        } catch (OrtException e) {
            throw new IllegalStateException(e);
        } finally {
            tensors.values().forEach(OnnxTensor::close);
        }
    }

    private static OnnxTensor tensor(OrtEnvironment environment, OrtSession session, Parameter param, Bytes data)
            throws OrtException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(data.size()).order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(data.toArray()).flip();
        long[] shape = param.type().shape().dims().stream().mapToLong(d -> d).toArray();
        boolean isDouble = session.getInputInfo().get(param.name()).getInfo() instanceof TensorInfo info
                && info.type == OnnxJavaType.DOUBLE;
        if (isDouble) {
            ByteBuffer doubles = ByteBuffer.allocateDirect(2 * data.size()).order(ByteOrder.LITTLE_ENDIAN);
            while (buffer.hasRemaining()) {
                doubles.putDouble(buffer.getFloat());
            }
            return OnnxTensor.createTensor(environment, doubles.flip(), shape, OnnxJavaType.DOUBLE);
        }
        return OnnxTensor.createTensor(
                environment, buffer, shape, type(param.type().dtype()));
    }

    private static OnnxJavaType type(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> OnnxJavaType.FLOAT;
            case INT8 -> OnnxJavaType.INT8;
            case UINT8 -> OnnxJavaType.UINT8;
            case INT16 -> OnnxJavaType.INT16;
            case INT32 -> OnnxJavaType.INT32;
            case INT64 -> OnnxJavaType.INT64;
            case BOOL -> OnnxJavaType.BOOL;
            case UINT32, UINT64 -> throw new IllegalArgumentException("no inputs of " + dtype.text());
        };
    }

    private static Bytes bytes(OnnxTensor tensor) {
        TensorInfo info = tensor.getInfo();
        ByteBuffer buffer = tensor.getByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        byte[] bytes = new byte[(int) (info.getNumElements() * info.type.size)];
        buffer.get(bytes);
        return info.type == OnnxJavaType.DOUBLE ? narrowed(bytes) : Bytes.wrap(bytes);
    }

    private static Bytes narrowed(byte[] doubles) {
        ByteBuffer all = ByteBuffer.wrap(doubles).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer floats = ByteBuffer.allocate(doubles.length / 2).order(ByteOrder.LITTLE_ENDIAN);
        while (all.hasRemaining()) {
            floats.putFloat((float) all.getDouble());
        }
        return Bytes.wrap(floats.array());
    }
}
