// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.Stm32f405.SystemBus;
import io.kiln.device.probe.thumb.BusFault;
import io.kiln.device.probe.thumb.Registers;
import io.kiln.device.probe.thumb.ThumbCore;
import java.util.Arrays;

/**
 * The run control of a Cortex-M4. Instructions are executed only in RAM, where debuggers put their programs; firmware
 * in flash counts as running, but is not executed.
 */
final class Core {
    static final int DEBUG_ENABLE = 1;
    static final int HALT = 1 << 1;
    static final int STEP = 1 << 2;
    static final int EVENT_HALTED = 1;
    static final int EVENT_BREAKPOINT = 1 << 1;
    static final int EVENT_VECTOR_CATCH = 1 << 3;
    static final int CATCH_RESET = 1;
    static final int CATCH_HARD_FAULT = 1 << 10;

    private final SystemBus bus;
    private final ThumbCore thumb;
    private final Region code;
    private boolean held;
    private boolean halted;
    private boolean lockedUp;
    private boolean resetSeen;
    private int control;
    private int events;
    private int catches;
    private int[] loopState = {};
    private long loopWrites = -1;
    private boolean spinning;

    Core(SystemBus bus, Region code) {
        this.bus = bus;
        this.thumb = new ThumbCore(bus);
        this.code = code;
    }

    Registers registers() {
        return thumb.registers();
    }

    boolean halted() {
        return halted;
    }

    boolean lockedUp() {
        return lockedUp;
    }

    /** Whether there was a reset since the last call. */
    boolean takeResetSeen() {
        boolean seen = resetSeen;
        resetSeen = false;
        return seen;
    }

    /** The control bits of DHCSR. */
    int control() {
        return control;
    }

    /** Why the core halted: the bits of DFSR. */
    int events() {
        return events;
    }

    void clearEvents(int mask) {
        events &= ~mask;
    }

    /** The bits of DEMCR, which say what is caught. */
    int catches() {
        return catches;
    }

    void setCatches(int value) {
        catches = value;
    }

    /** Sets the control bits of DHCSR: halts, resumes or single-steps. */
    void setControl(int value) {
        boolean debug = (value & DEBUG_ENABLE) != 0;
        control = debug ? value : 0;
        if (!debug || (value & HALT) == 0) {
            boolean stepping = halted && debug && (value & STEP) != 0;
            halted = false;
            if (stepping) {
                execute();
                halt(EVENT_HALTED);
            }
        } else if (!halted && !held) {
            halt(EVENT_HALTED);
        }
    }

    /** Holds the core in reset, or releases it, which resets it. */
    void hold(boolean hold) {
        held = hold;
        reset();
    }

    /** Resets the core; it starts from the vectors at address 0, or halts there if the debugger catches resets. */
    void reset() {
        control &= DEBUG_ENABLE;
        halted = false;
        lockedUp = false;
        resetSeen = true;
        loopWrites = -1;
        registers().setProgramStatus(0);
        registers().set(Registers.LR, -1);
        registers().set(Registers.SP, vector(0));
        registers().set(Registers.PC, vector(4));
        if (!held && (control & DEBUG_ENABLE) != 0 && (catches & CATCH_RESET) != 0) {
            halt(EVENT_VECTOR_CATCH);
        }
    }

    /** Whether there is something to execute: the core runs in RAM and does not merely wait for memory to change. */
    boolean busy() {
        return !halted
                && !held
                && !lockedUp
                && code.holds(registers().get(Registers.PC))
                && !(spinning && bus.writes() == loopWrites);
    }

    /** Executes at most this many instructions. */
    void run(int instructions) {
        for (int i = 0; i < instructions && busy(); i++) {
            int before = registers().get(Registers.PC);
            execute();
            if (Integer.compareUnsigned(registers().get(Registers.PC), before) <= 0) {
                watchLoop();
            }
        }
    }

    /** Detects a loop that repeats with equal registers, without a write in between: only someone else's write can end it. */
    private void watchLoop() {
        int[] state = registers().snapshot();
        spinning = bus.writes() == loopWrites && Arrays.equals(state, loopState);
        loopState = state;
        loopWrites = bus.writes();
    }

    private void execute() {
        switch (thumb.step()) {
            case CONTINUE -> {}
            case BREAKPOINT -> stop(EVENT_BREAKPOINT, true);
            case FAULT -> stop(EVENT_VECTOR_CATCH, (catches & CATCH_HARD_FAULT) != 0);
        }
    }

    /** Stops the core by an event; one that no debugger catches ends in the lock-up state. */
    private void stop(int event, boolean caught) {
        if (caught && (control & DEBUG_ENABLE) != 0) {
            halt(event);
        } else {
            lockedUp = true;
        }
    }

    private void halt(int event) {
        halted = true;
        control |= HALT;
        events |= event;
    }

    private int vector(int address) {
        try {
            return bus.read(address, 4);
        } catch (BusFault e) {
            return -1;
        }
    }
}
