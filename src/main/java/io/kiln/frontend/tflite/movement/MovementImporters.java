// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BATCH_TO_SPACE_ND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BROADCAST_ARGS;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.BROADCAST_TO;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.CONCATENATION;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.DEPTH_TO_SPACE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.EXPAND_DIMS;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.MIRROR_PAD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.PACK;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.PAD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.PADV2;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.RESHAPE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.REVERSE_V2;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SHAPE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SLICE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SPACE_TO_BATCH_ND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SPACE_TO_DEPTH;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SPLIT;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SPLIT_V;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.SQUEEZE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STRIDED_SLICE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.TRANSPOSE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.UNPACK;

import io.kiln.frontend.tflite.operator.Registration;
import java.util.List;

/** Operators that only copy elements. */
public final class MovementImporters {
    public static final List<Registration> ALL = List.of(
            builtin(CONCATENATION, 4, JoinImporters::concatenate).uint8AsInt8(),
            builtin(DEPTH_TO_SPACE, 2, BlockImporters::depthToSpace).uint8AsInt8(),
            builtin(SPACE_TO_DEPTH, 2, BlockImporters::spaceToDepth).uint8AsInt8(),
            builtin(PAD, 4, PadImporters::pad).uint8AsInt8(),
            builtin(BATCH_TO_SPACE_ND, 4, BlockImporters::batchToSpace).uint8AsInt8(),
            builtin(SPACE_TO_BATCH_ND, 4, BlockImporters::spaceToBatch).uint8AsInt8(),
            builtin(TRANSPOSE, 7, ShapeImporters::transpose).uint8AsInt8(),
            builtin(SQUEEZE, 2, ShapeImporters::squeeze).uint8AsInt8(),
            builtin(STRIDED_SLICE, 8, new StridedSliceImporter()).uint8AsInt8(),
            builtin(SPLIT, 4, SliceImporters::split).uint8AsInt8(),
            builtin(PADV2, 4, PadImporters::padV2).uint8AsInt8(),
            builtin(SLICE, 6, SliceImporters::slice).uint8AsInt8(),
            builtin(EXPAND_DIMS, 1, ShapeImporters::expandDims).uint8AsInt8(),
            builtin(SHAPE, 1, ShapeImporters::shape),
            builtin(PACK, 4, JoinImporters::pack).uint8AsInt8(),
            builtin(UNPACK, 4, SliceImporters::unpack).uint8AsInt8(),
            builtin(MIRROR_PAD, 3, PadImporters::mirrorPad).uint8AsInt8(),
            builtin(SPLIT_V, 2, SliceImporters::splitV).uint8AsInt8(),
            builtin(REVERSE_V2, 3, SliceImporters::reverse),
            builtin(BROADCAST_TO, 3, ShapeImporters::broadcastTo).uint8AsInt8(),
            builtin(BROADCAST_ARGS, 1, ShapeImporters::broadcastArgs),
            builtin(RESHAPE, 1, new ReshapeImporter()).uint8AsInt8());

    private MovementImporters() {}
}
