// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.BusFault;

/** A lock opened by two keys in sequence. A wrong key faults and jams the lock until reset. */
final class KeySequence {
    private final int first;
    private final int second;
    private State state = State.LOCKED;

    private enum State {
        LOCKED,
        FIRST_TAKEN,
        UNLOCKED,
        JAMMED
    }

    KeySequence(int first, int second) {
        this.first = first;
        this.second = second;
    }

    boolean unlocked() {
        return state == State.UNLOCKED;
    }

    /** Handles a key written to this register. */
    void enter(int address, int key) {
        if (state == State.LOCKED && key == first) {
            state = State.FIRST_TAKEN;
        } else if (state == State.FIRST_TAKEN && key == second) {
            state = State.UNLOCKED;
        } else {
            state = State.JAMMED;
            throw new BusFault(address);
        }
    }

    /** Locks; a jammed lock stays jammed. */
    void lock() {
        if (state != State.JAMMED) {
            state = State.LOCKED;
        }
    }

    void reset() {
        state = State.LOCKED;
    }
}
