// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.device.probe.Stm32f405.Breakpoints;
import io.kiln.device.probe.Stm32f405.CoreDebug;
import io.kiln.device.probe.Stm32f405.Ram;
import io.kiln.device.probe.Stm32f405.SystemBus;
import io.kiln.device.probe.thumb.Registers;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Run control through the debug registers, as a debugger uses them. */
class CoreTest {
    private static final int RAM = 0x20000000;
    private static final int DFSR = 0xe000ed30;
    private static final int AIRCR = 0xe000ed0c;
    private static final int DHCSR = 0xe000edf0;
    private static final int DCRSR = 0xe000edf4;
    private static final int DCRDR = 0xe000edf8;
    private static final int DEMCR = 0xe000edfc;
    private static final int KEY = 0xa05f0000;
    private static final int HALTED = 1 << 17;
    private static final int LOCKED_UP = 1 << 19;
    private static final int RESET = 1 << 25;
    private static final int WRITE = 1 << 16;

    private final Ram ram = new Ram(RAM, 4096);
    private final SystemBus bus = new SystemBus(ram);
    private final Core core = new Core(bus, ram);
    private final AtomicInteger resets = new AtomicInteger();

    @BeforeEach
    void haltInRam() {
        bus.attach(new CoreDebug(core, resets::incrementAndGet));
        set(DHCSR, KEY | 3);
        register(Registers.PC, RAM);
    }

    private void set(int address, int value) {
        bus.write(address, 4, value);
    }

    private int get(int address) {
        return bus.read(address, 4);
    }

    private void register(int number, int value) {
        set(DCRDR, value);
        set(DCRSR, WRITE | number);
    }

    private int register(int number) {
        set(DCRSR, number);
        return get(DCRDR);
    }

    private void code(int... halfWords) {
        for (int i = 0; i < halfWords.length; i++) {
            bus.write(RAM + 2 * i, 2, halfWords[i]);
        }
    }

    @Test
    void registersAreReadAndWrittenWhileItIsHalted() {
        register(5, 77);
        register(18, 0x20000400);
        assertThat(register(5)).isEqualTo(77);
        assertThat(register(18)).isEqualTo(0x20000400);
        assertThat(register(16)).isEqualTo(1 << 24);
        set(DHCSR, KEY | 1);
        register(5, 78);
        set(DHCSR, KEY | 3);
        assertThat(register(5)).isEqualTo(77);
    }

    @Test
    void withoutTheKeyNothingHappens() {
        set(DHCSR, 1);
        assertThat(get(DHCSR) & HALTED).isEqualTo(HALTED);
    }

    @Test
    void aStepExecutesOneInstruction() {
        code(0x2001, 0x2002); // movs r0, #1; movs r0, #2
        set(DHCSR, KEY | 5);
        assertThat(get(DHCSR) & HALTED).isEqualTo(HALTED);
        assertThat(register(0)).isEqualTo(1);
        assertThat(register(Registers.PC)).isEqualTo(RAM + 2);
    }

    @Test
    void aBreakpointInstructionHalts() {
        code(0x2001, 0xbe00);
        set(DHCSR, KEY | 1);
        core.run(10);
        assertThat(get(DHCSR) & HALTED).isEqualTo(HALTED);
        assertThat(get(DFSR) & 2).isEqualTo(2);
        set(DFSR, -1);
        assertThat(get(DFSR)).isZero();
    }

    @Test
    void theBreakpointUnitSaysWhatItHasAndTakesControlWithItsKeyOnly() {
        bus.attach(new Breakpoints());
        set(0xe0002000, 1);
        assertThat(get(0xe0002000)).isEqualTo(0x260);
        set(0xe0002000, 3);
        assertThat(get(0xe0002000)).isEqualTo(0x261);
    }

    @Test
    void waitingForMemoryParksItUntilSomethingIsWritten() {
        code(0x6808, 0x2800, 0xd0fc, 0xbe00); // ldr r0, [r1]; cmp r0, #0; beq back; bkpt
        register(1, RAM + 0x100);
        set(DHCSR, KEY | 1);
        core.run(100);
        assertThat(core.busy()).isFalse();
        bus.write(RAM + 0x100, 4, 1);
        assertThat(core.busy()).isTrue();
        core.run(100);
        assertThat(core.halted()).isTrue();
    }

    @Test
    void aCountingLoopIsNotTakenForWaiting() {
        code(0x3801, 0xd1fd, 0xbe00); // subs r0, #1; bne back; bkpt
        register(0, 1000);
        set(DHCSR, KEY | 1);
        core.run(10_000);
        assertThat(core.halted()).isTrue();
        assertThat(register(0)).isZero();
    }

    @Test
    void aFaultLocksUpUnlessItIsCaught() {
        code(0xde00);
        set(DHCSR, KEY | 1);
        core.run(1);
        assertThat(get(DHCSR) & LOCKED_UP).isEqualTo(LOCKED_UP);
        core.reset();
        set(DHCSR, KEY | 3);
        set(DEMCR, 1 << 10);
        register(Registers.PC, RAM);
        set(DHCSR, KEY | 1);
        core.run(1);
        assertThat(get(DHCSR) & (LOCKED_UP | HALTED)).isEqualTo(HALTED);
    }

    @Test
    void resetIsSeenOnceAndCaughtIfWanted() {
        core.reset();
        assertThat(get(DHCSR) & (RESET | HALTED)).isEqualTo(RESET);
        assertThat(get(DHCSR) & RESET).isZero();
        set(DEMCR, 1);
        core.hold(true);
        assertThat(core.halted()).isFalse();
        core.hold(false);
        assertThat(core.halted()).isTrue();
        set(AIRCR, 0x05fa0004);
        set(AIRCR, 4);
        assertThat(resets).hasValue(1);
    }
}
