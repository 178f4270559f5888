// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.call;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.npu.DriverPayload;
import io.kiln.npu.NpuOperation;
import io.kiln.npu.NpuOperations;
import java.util.List;

/**
 * A part of a model that Arm's Vela compiled for an Ethos-U (operator {@code ethos-u} of TensorFlow Lite files). Only the NPU computes it.
 * Arguments: the tensors that it reads; then constants, uint8: the driver's payload with the command stream, and the weights. The result is
 * the memory that the stream addresses as region 1, in which {@link EthosUTensor} finds the tensors that it computes.
 *
 * @param arenaBytes bytes of region 1, which holds inputs and outputs
 * @param fastBytes bytes of region 2, the fast scratch; 0 if the stream has none of its own
 * @param inputs first byte of each input in the arena
 * @param outputs first byte of each output in the arena
 * @param outputBytes bytes of each output
 */
public record EthosU(
        int arenaBytes, int fastBytes, List<Integer> inputs, List<Integer> outputs, List<Integer> outputBytes)
        implements Op {
    public static final Signature<EthosU> SIGNATURE = Signature.of(EthosU.class, "tfl.ethos_u")
            .data("input", operand -> operand.times(op -> op.inputs.size()))
            .constant("payload", operand -> operand.rank(1), DType.UINT8)
            .constant("weights", operand -> operand.rank(1), DType.UINT8)
            .attributes(
                    Attribute.whole("arena", EthosU::arenaBytes, 1),
                    Attribute.whole("fast", EthosU::fastBytes, 0),
                    Attribute.wholes("inputs", EthosU::inputs, 0, Integer.MAX_VALUE),
                    Attribute.wholes("outputs", EthosU::outputs, 0, Integer.MAX_VALUE),
                    Attribute.wholes("output_bytes", EthosU::outputBytes, 1, Integer.MAX_VALUE),
                    EthosU::new)
            .traits(Trait.OPAQUE)
            .result(EthosU::result);

    public EthosU {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        outputBytes = List.copyOf(outputBytes);
    }

    @Override
    public Card<EthosU> card() {
        return SIGNATURE.of(this);
    }

    /** Multiply-accumulates of its convolutions; 0 for a payload that cannot be read, which is refused where it is compiled. */
    public static long macs(Bytes payload) {
        try {
            DriverPayload read =
                    DriverPayload.read(payload, (what, expected) -> new IllegalArgumentException(what + expected));
            return NpuOperations.of(read).stream().mapToLong(NpuOperation::macs).sum();
        } catch (IllegalArgumentException refusedLater) {
            return 0;
        }
    }

    /** Position of the payload among the arguments; the weights follow it. */
    public int payload() {
        return inputs.size();
    }

    private TensorType result(List<TensorType> args) {
        Check.that(!inputs.isEmpty() && !outputs.isEmpty(), "a part for an NPU reads and computes a tensor or more");
        Check.that(
                outputs.size() == outputBytes.size(),
                outputs.size() + " outputs and " + outputBytes.size() + " sizes of outputs differ in number");
        for (int i = 0; i < inputs.size(); i++) {
            fit("input " + i, inputs.get(i), args.get(i).bytes());
        }
        for (int i = 0; i < outputs.size(); i++) {
            fit("output " + i, outputs.get(i), outputBytes.get(i));
        }
        return new TensorType(Shape.of(arenaBytes), DType.UINT8);
    }

    private void fit(String what, int first, long bytes) {
        Check.that(
                first + bytes <= arenaBytes,
                what + " ends at byte " + (first + bytes) + " of an arena of " + arenaBytes + " bytes");
    }

    /**
     * A tensor that an {@link EthosU} left in its arena, as a value of its own. Argument: the arena, uint8.
     *
     * @param offset its first byte
     * @param shape its dimensions
     * @param dtype type of its elements, little-endian
     */
    public record EthosUTensor(int offset, Shape shape, DType dtype) implements Op {
        public static final Signature<EthosUTensor> SIGNATURE = Signature.of(EthosUTensor.class, "tfl.ethos_u_tensor")
                .data("arena", operand -> operand.rank(1), DType.UINT8)
                .attributes(
                        Attribute.whole("offset", EthosUTensor::offset, 0),
                        Attribute.shape("shape", EthosUTensor::shape),
                        Attribute.dtype("dtype", EthosUTensor::dtype),
                        EthosUTensor::new)
                .traits()
                .result(EthosUTensor::result);

        @Override
        public Card<EthosUTensor> card() {
            return SIGNATURE.of(this);
        }

        private TensorType result(List<TensorType> args) {
            TensorType type = new TensorType(shape, dtype);
            long arena = args.get(0).shape().elements();
            Check.that(
                    offset + type.bytes() <= arena,
                    "it ends at byte " + (offset + type.bytes()) + " of an arena of " + arena + " bytes");
            return type;
        }
    }
}
