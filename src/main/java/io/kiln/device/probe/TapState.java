// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/** The sixteen states of a JTAG test access port (IEEE 1149.1). */
enum TapState {
    TEST_LOGIC_RESET,
    RUN_TEST_IDLE,
    SELECT_DR,
    CAPTURE_DR,
    SHIFT_DR,
    EXIT1_DR,
    PAUSE_DR,
    EXIT2_DR,
    UPDATE_DR,
    SELECT_IR,
    CAPTURE_IR,
    SHIFT_IR,
    EXIT1_IR,
    PAUSE_IR,
    EXIT2_IR,
    UPDATE_IR;

    /** The state after a rising edge of TCK with this TMS. */
    TapState next(boolean tms) {
        return switch (this) {
            case TEST_LOGIC_RESET -> tms ? TEST_LOGIC_RESET : RUN_TEST_IDLE;
            case RUN_TEST_IDLE, UPDATE_DR, UPDATE_IR -> tms ? SELECT_DR : RUN_TEST_IDLE;
            case SELECT_DR -> tms ? SELECT_IR : CAPTURE_DR;
            case CAPTURE_DR, SHIFT_DR -> tms ? EXIT1_DR : SHIFT_DR;
            case EXIT1_DR -> tms ? UPDATE_DR : PAUSE_DR;
            case PAUSE_DR -> tms ? EXIT2_DR : PAUSE_DR;
            case EXIT2_DR -> tms ? UPDATE_DR : SHIFT_DR;
            case SELECT_IR -> tms ? TEST_LOGIC_RESET : CAPTURE_IR;
            case CAPTURE_IR, SHIFT_IR -> tms ? EXIT1_IR : SHIFT_IR;
            case EXIT1_IR -> tms ? UPDATE_IR : PAUSE_IR;
            case PAUSE_IR -> tms ? EXIT2_IR : PAUSE_IR;
            case EXIT2_IR -> tms ? UPDATE_IR : SHIFT_IR;
        };
    }
}
