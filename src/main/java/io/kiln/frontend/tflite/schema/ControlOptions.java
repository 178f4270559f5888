// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.schema;

import io.kiln.frontend.tflite.flatbuffer.Field;

/**
 * The options tables of control flow and variables: for each its code in the schema's union {@code BuiltinOptions} and the fields that Kiln reads. A class
 * {@code X} here is the schema's table {@code XOptions}.
 */
public final class ControlOptions {
    private ControlOptions() {}

    /** The schema's {@code IfOptions}. */
    public static final class If {
        public static final OptionsType TYPE = new OptionsType(92);
        public static final Field.Int32 THEN_SUBGRAPH_INDEX = new Field.Int32(0);
        public static final Field.Int32 ELSE_SUBGRAPH_INDEX = new Field.Int32(1);

        private If() {}
    }

    /** The schema's {@code WhileOptions}. */
    public static final class While {
        public static final OptionsType TYPE = new OptionsType(93);
        public static final Field.Int32 COND_SUBGRAPH_INDEX = new Field.Int32(0);
        public static final Field.Int32 BODY_SUBGRAPH_INDEX = new Field.Int32(1);

        private While() {}
    }

    /** The schema's {@code CallOnceOptions}. */
    public static final class CallOnce {
        public static final OptionsType TYPE = new OptionsType(103);
        public static final Field.Int32 INIT_SUBGRAPH_INDEX = new Field.Int32(0);

        private CallOnce() {}
    }

    /** The schema's {@code VarHandleOptions}. */
    public static final class VarHandle {
        public static final OptionsType TYPE = new OptionsType(111);
        public static final Field.Text CONTAINER = new Field.Text(0);
        public static final Field.Text SHARED_NAME = new Field.Text(1);

        private VarHandle() {}
    }
}
