// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/**
 * The options tables of operators that copy or look up elements: for each its code in the schema's union {@code BuiltinOptions} and the fields that Kiln reads. A class
 * {@code X} here is the schema's table {@code XOptions}.
 */
public final class MovementOptions {
    private MovementOptions() {}

    /** The schema's {@code ConcatenationOptions}. */
    public static final class Concatenation {
        public static final OptionsType TYPE = new OptionsType(10);
        public static final Field.Int32 AXIS = new Field.Int32(0);
        public static final Field.UByte FUSED_ACTIVATION_FUNCTION = new Field.UByte(1);

        private Concatenation() {}
    }

    /** The schema's {@code ReverseSequenceOptions}. */
    public static final class ReverseSequence {
        public static final OptionsType TYPE = new OptionsType(87);
        public static final Field.Int32 SEQ_DIM = new Field.Int32(0);
        public static final Field.Int32 BATCH_DIM = new Field.Int32(1);

        private ReverseSequence() {}
    }

    /** The schema's {@code PackOptions}. */
    public static final class Pack {
        public static final OptionsType TYPE = new OptionsType(59);
        public static final Field.Int32 VALUES_COUNT = new Field.Int32(0);
        public static final Field.Int32 AXIS = new Field.Int32(1);

        private Pack() {}
    }

    /** The schema's {@code UnpackOptions}. */
    public static final class Unpack {
        public static final OptionsType TYPE = new OptionsType(64);
        public static final Field.Int32 NUM = new Field.Int32(0);
        public static final Field.Int32 AXIS = new Field.Int32(1);

        private Unpack() {}
    }

    /** The schema's {@code SplitOptions}. */
    public static final class Split {
        public static final OptionsType TYPE = new OptionsType(35);
        public static final Field.Int32 NUM_SPLITS = new Field.Int32(0);

        private Split() {}
    }

    /** The schema's {@code ReshapeOptions}. */
    public static final class Reshape {
        public static final OptionsType TYPE = new OptionsType(17);
        public static final Field.Vector NEW_SHAPE = new Field.Vector(0);

        private Reshape() {}
    }

    /** The schema's {@code SqueezeOptions}. */
    public static final class Squeeze {
        public static final OptionsType TYPE = new OptionsType(30);
        public static final Field.Vector SQUEEZE_DIMS = new Field.Vector(0);

        private Squeeze() {}
    }

    /** The schema's {@code StridedSliceOptions}. */
    public static final class StridedSlice {
        public static final OptionsType TYPE = new OptionsType(32);
        public static final Field.Int32 BEGIN_MASK = new Field.Int32(0);
        public static final Field.Int32 END_MASK = new Field.Int32(1);
        public static final Field.Int32 ELLIPSIS_MASK = new Field.Int32(2);
        public static final Field.Int32 NEW_AXIS_MASK = new Field.Int32(3);
        public static final Field.Int32 SHRINK_AXIS_MASK = new Field.Int32(4);
        public static final Field.Bool OFFSET = new Field.Bool(5);

        private StridedSlice() {}
    }

    /** The schema's {@code MirrorPadOptions}. */
    public static final class MirrorPad {
        public static final OptionsType TYPE = new OptionsType(77);
        public static final Field.UByte MODE = new Field.UByte(0);

        private MirrorPad() {}
    }

    /** The schema's {@code SpaceToDepthOptions}. */
    public static final class SpaceToDepth {
        public static final OptionsType TYPE = new OptionsType(19);
        public static final Field.Int32 BLOCK_SIZE = new Field.Int32(0);

        private SpaceToDepth() {}
    }

    /** The schema's {@code DepthToSpaceOptions}. */
    public static final class DepthToSpace {
        public static final OptionsType TYPE = new OptionsType(94);
        public static final Field.Int32 BLOCK_SIZE = new Field.Int32(0);

        private DepthToSpace() {}
    }

    /** The schema's {@code GatherOptions}. */
    public static final class Gather {
        public static final OptionsType TYPE = new OptionsType(23);
        public static final Field.Int32 AXIS = new Field.Int32(0);
        public static final Field.Int32 BATCH_DIMS = new Field.Int32(1);

        private Gather() {}
    }

    /** The schema's {@code ResizeBilinearOptions}. */
    public static final class ResizeBilinear {
        public static final OptionsType TYPE = new OptionsType(15);
        public static final Field.Bool ALIGN_CORNERS = new Field.Bool(2);
        public static final Field.Bool HALF_PIXEL_CENTERS = new Field.Bool(3);

        private ResizeBilinear() {}
    }

    /** The schema's {@code ResizeNearestNeighborOptions}. */
    public static final class ResizeNearestNeighbor {
        public static final OptionsType TYPE = new OptionsType(74);
        public static final Field.Bool ALIGN_CORNERS = new Field.Bool(0);
        public static final Field.Bool HALF_PIXEL_CENTERS = new Field.Bool(1);

        private ResizeNearestNeighbor() {}
    }
}
