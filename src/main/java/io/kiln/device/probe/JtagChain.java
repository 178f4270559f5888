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
}
