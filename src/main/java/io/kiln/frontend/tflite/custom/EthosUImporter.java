// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.custom;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuConfiguration.Product;
import io.kiln.npu.NpuOperation;
import io.kiln.npu.NpuOperations;
import java.util.ArrayList;
import java.util.List;

/**
 * The operator {@code ethos-u} of Vela's files: a part of the model as a command stream. Inputs: the driver's payload; the weights of all such
 * operators; scratch, which begins where the arena does and holds inputs and outputs; fast scratch; then the tensors that it reads. The stream
 * addresses these by their places in Vela's memory plan.
 */
public final class EthosUImporter implements OperatorImporter {
    public static final String CODE = "ethos-u";

    private static final int PAYLOAD = 0;
    private static final int WEIGHTS = 1;
    private static final int SCRATCH = 2;
    private static final int FAST = 3;
    private static final int TENSORS = 4;
    private static final int FAST_REGION = 2;

    /** The options that Vela writes: a FlexBuffer whose root is the number 1. */
    private static final Bytes OPTIONS = Bytes.wrap(new byte[] {1, 4, 1});

    private static final String AGAIN = "Compile the model again with Vela 2 to 4";

    @Override
    public boolean isMemory(int input) {
        return input == SCRATCH || input == FAST;
    }

    @Override
    public void emit(OperatorContext operator) {
        check(operator);
        Constant payload = bytes(operator, PAYLOAD, "the command stream");
        Constant weights = bytes(operator, WEIGHTS, "the weights");
        DriverPayload stream = DriverPayload.read(payload.data(), operator::failure);
        List<NpuOperation> operations = NpuOperations.of(stream);
        int start = operator.arenaOffset(operator.input(SCRATCH))
                .orElseThrow(() -> operator.failure(
                        "the file has no place for its scratch",
                        "metadata OfflineMemoryAllocation, which Vela writes"));
        List<TfliteTensor> inputs = new ArrayList<>();
        for (int i = TENSORS; i < operator.inputCount(); i++) {
            inputs.add(operator.input(i));
        }
        List<Integer> inputOffsets = offsets(operator, inputs, start);
        List<Integer> outputOffsets = offsets(operator, operator.outputs(), start);
        long arena = Math.max(
                bytes(operator.input(SCRATCH)),
                Math.max(end(inputs, inputOffsets), end(operator.outputs(), outputOffsets)));
        long fast = fast(operator, stream, operations);
        operator.requireThat(
                arena <= Integer.MAX_VALUE && fast <= Integer.MAX_VALUE,
                "its arena takes " + arena + " bytes",
                "at most " + Integer.MAX_VALUE,
                AGAIN);
        NpuOperations.check(operations, List.of((long) weights.data().size(), arena, fast), operator::failure);
        EthosU part = new EthosU(
                (int) arena,
                (int) fast,
                inputOffsets,
                outputOffsets,
                operator.outputs().stream().map(output -> (int) bytes(output)).toList());
        List<Arg> args = new ArrayList<>();
        inputs.forEach(input -> args.add(operator.value(input)));
        args.add(payload);
        args.add(weights);
        Arg result = operator.emit(part, args);
        for (int i = 0; i < outputOffsets.size(); i++) {
            TfliteTensor output = operator.outputs().get(i);
            operator.finish(
                    output,
                    operator.emit(
                            new EthosUTensor(outputOffsets.get(i), output.shape(), output.dtype()), List.of(result)));
        }
    }

    private static void check(OperatorContext operator) {
        Bytes options = operator.operator().customOptions();
        operator.require(
                options.equals(OPTIONS),
                "its options are not those of Vela's operator",
                "a FlexBuffer with the number 1",
                AGAIN);
        operator.require(
                operator.inputCount() > TENSORS && !operator.outputs().isEmpty(),
                "it has " + operator.inputCount() + " inputs and "
                        + operator.outputs().size() + " outputs",
                "command stream, weights, scratch, fast scratch, and tensors to read and to compute",
                AGAIN);
        operator.requireThat(
                !operator.infersShape(),
                "other shapes of inputs are given, and its command stream is for those in the file",
                "the shapes that Vela compiled the model for",
                "Leave kiln.inputShapes out");
    }

    /** A constant as bytes; C has no empty tables, so that one without elements becomes a few zeros. */
    private static Constant bytes(OperatorContext operator, int input, String what) {
        TfliteTensor tensor = operator.input(input);
        operator.requireThat(
                tensor.isConstant() && tensor.dtype() == DType.UINT8,
                what + " " + tensor.text() + " is no constant of bytes",
                "a constant, uint8",
                AGAIN);
        Bytes data = tensor.shape().elements() == 0
                ? Bytes.wrap(new byte[DriverPayload.ALIGNMENT])
                : operator.constant(tensor).data();
        return new Constant(tensor.name(), new TensorType(Shape.of(data.size()), DType.UINT8), data);
    }

    private static List<Integer> offsets(OperatorContext operator, List<TfliteTensor> tensors, int start) {
        List<Integer> offsets = new ArrayList<>();
        for (TfliteTensor tensor : tensors) {
            operator.require(
                    tensor.shape().elements() > 0, tensor.text() + " has no elements", "a tensor with elements", AGAIN);
            int offset = operator.arenaOffset(tensor).orElse(-1);
            operator.require(
                    offset >= start,
                    "the file's memory plan has no place for " + tensor.text(),
                    "a place in its scratch",
                    AGAIN);
            offsets.add(Math.max(0, offset - start));
        }
        operator.check();
        return offsets;
    }

    private static long end(List<TfliteTensor> tensors, List<Integer> offsets) {
        long end = 0;
        for (int i = 0; i < tensors.size(); i++) {
            end = Math.max(end, offsets.get(i) + bytes(tensors.get(i)));
        }
        return end;
    }

    /** Bytes of the fast scratch, if the stream has one apart from its scratch. A U85's stream does not say; Vela states another size then. */
    private static long fast(OperatorContext operator, DriverPayload stream, List<NpuOperation> operations) {
        long stated = bytes(operator.input(FAST));
        boolean isUsed = stream.configuration().product() == Product.U85
                ? stated != bytes(operator.input(SCRATCH))
                : operations.stream()
                        .flatMap(operation -> operation.accesses().stream())
                        .anyMatch(access -> access.region() == FAST_REGION);
        return isUsed ? stated : 0;
    }

    private static long bytes(TfliteTensor tensor) {
        return tensor.type().bytes();
    }
}
