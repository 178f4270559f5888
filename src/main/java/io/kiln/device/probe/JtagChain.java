// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.util.List;

/** Devices in series that share TCK and TMS. */
final class JtagChain {
    private final List<Tap> taps;
    private TapState state = TapState.TEST_LOGIC_RESET;
    private boolean clockHigh;

    /** A chain; the first device is next to TDO. */
    JtagChain(List<Tap> nearestToTdoFirst) {
        this.taps = List.copyOf(nearestToTdoFirst);
    }

    /** Drives the pins. The devices act on the rising edge of TCK. */
    void drive(boolean tck, boolean tms, int tdi) {
        if (tck && !clockHigh) {
            risingEdge(tms, tdi);
        }
        clockHigh = tck;
    }

    /** The level of TDO before the next rising edge. */
    int tdo() {
        return taps.get(0).output();
    }

    TapState state() {
        return state;
    }

    /** Resets the devices by TRST. */
    void reset() {
        state = TapState.TEST_LOGIC_RESET;
        taps.forEach(Tap::reset);
    }

    private void risingEdge(boolean tms, int tdi) {
        switch (state) {
            case CAPTURE_DR -> taps.forEach(Tap::captureDr);
            case CAPTURE_IR -> taps.forEach(Tap::captureIr);
            case SHIFT_DR, SHIFT_IR -> shift(tdi);
            default -> {}
        }
        state = state.next(tms);
        switch (state) {
            case UPDATE_DR -> taps.forEach(Tap::updateDr);
            case UPDATE_IR -> taps.forEach(Tap::updateIr);
            case TEST_LOGIC_RESET -> taps.forEach(Tap::reset);
            default -> {}
        }
    }

    private void shift(int tdi) {
        int bit = tdi;
        for (int i = taps.size() - 1; i >= 0; i--) {
            bit = taps.get(i).shift(bit);
        }
    }

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
}
