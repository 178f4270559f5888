// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.tensorflowlite.FlatBufferModel;
import org.bytedeco.tensorflowlite.FlatBufferModelBase;
import org.bytedeco.tensorflowlite.Interpreter;
import org.bytedeco.tensorflowlite.InterpreterBuilder;
import org.bytedeco.tensorflowlite.TfLiteIntArray;
import org.bytedeco.tensorflowlite.TfLiteTensor;
import org.bytedeco.tensorflowlite.global.tensorflowlite;

/** TensorFlow Lite's own interpreter with its reference kernels: what a model must answer. */
public final class TfliteOracle {
    private static final int OK = 0;

    private TfliteOracle() {}

    /**
     * An output of a model.
     *
     * @param name the tensor's name
     * @param type element type as in the schema's {@code TensorType}
     * @param shape what the interpreter computed, whatever the file says
     * @param data row-major, little-endian
     */
    public record Output(String name, int type, List<Integer> shape, Bytes data) {}

    /** The model is not one that TensorFlow Lite runs; what is wrong it prints itself. */
    public static final class RefusedException extends RuntimeException {
        RefusedException(String what) {
            super("TensorFlow Lite refuses the model: " + what + "; its message is on the error stream");
        }
    }

    /** Why there is no oracle here, if there is none. */
    public static Optional<String> missing() {
        try {
            Loader.load(tensorflowlite.class);
            return Optional.empty();
        } catch (LinkageError e) {
            return Optional.of("no TensorFlow Lite for " + Loader.getPlatform() + ": " + e.getMessage());
        }
    }

    /**
     * Several invocations of one interpreter, one after the other; variables keep their values between them.
     *
     * @param model a model file
     * @param rounds for each invocation the inputs in the model's order
     * @return for each invocation the outputs in the model's order
     * @throws RefusedException if the interpreter does not take the model or an input
     */
    @SuppressWarnings("try") // the scope frees what is made within it
    public static List<List<Output>> runAll(byte[] model, List<List<Bytes>> rounds) {
        try (PointerScope scope = new PointerScope()) {
            // Constants are read in place: the copy must live as long as the interpreter.
            BytePointer file = new BytePointer(model);
            FlatBufferModel read = FlatBufferModelBase.VerifyAndBuildFromBuffer(file, model.length);
            require(read != null && !read.isNull(), "it is no valid FlatBuffer");
            Interpreter interpreter = new Interpreter((Pointer) null);
            InterpreterBuilder builder = new InterpreterBuilder(read, ReferenceKernels.resolver());
            require(builder.apply(interpreter) == OK && !interpreter.isNull(), "no interpreter can be built");
            require(interpreter.AllocateTensors() == OK, "tensors cannot be allocated");
            List<List<Output>> all = new ArrayList<>();
            for (List<Bytes> inputs : rounds) {
                all.add(invoke(interpreter, inputs));
            }
            interpreter.deallocate();
            return all;
        }
    }

    private static List<Output> invoke(Interpreter interpreter, List<Bytes> inputs) {
        for (int i = 0; i < inputs.size(); i++) {
            TfLiteTensor tensor = interpreter.input_tensor(i);
            byte[] data = inputs.get(i).toArray();
            require(tensor.bytes() == data.length, "input " + i + " takes " + tensor.bytes() + " bytes");
            tensor.data().raw().put(data);
        }
        require(interpreter.Invoke() == OK, "it cannot be invoked");
        List<Output> outputs = new ArrayList<>();
        for (int i = 0; i < interpreter.outputs().capacity(); i++) {
            outputs.add(output(interpreter.tensor(interpreter.outputs().get(i))));
        }
        return outputs;
    }

    private static Output output(TfLiteTensor tensor) {
        byte[] data = new byte[(int) tensor.bytes()];
        if (data.length > 0) {
            tensor.data().raw().get(data);
        }
        TfLiteIntArray dims = tensor.dims();
        List<Integer> shape = new ArrayList<>();
        for (int i = 0; i < dims.size(); i++) {
            shape.add(dims.data(i));
        }
        return new Output(tensor.name().getString(), tensor.type(), List.copyOf(shape), Bytes.wrap(data));
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new RefusedException(what);
        }
    }
}
