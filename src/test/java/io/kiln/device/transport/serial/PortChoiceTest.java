// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.transport.serial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.device.transport.serial.SerialConsole.Port;
import io.kiln.device.transport.serial.SerialConsole.PortChoice;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PortChoiceTest {
    private static final Port MODEM = new Port("/dev/ttyUSB0", Optional.of("0403:6001"), "M1", "Modem");
    private static final Port LEFT = new Port("/dev/ttyACM0", Optional.of("0483:374b"), "0669FF", "STM32 STLink");
    private static final Port RIGHT = new Port("/dev/ttyACM1", Optional.of("0483:374b"), "066AFF", "STM32 STLink");
    private static final Port BUILT_IN = new Port("/dev/ttyS0", Optional.empty(), "", "Physical port S0");
    private static final List<String> STLINK = List.of("0483:374b", "0483:3752");

    private static PortChoice by(String serial, List<String> usb) {
        return new PortChoice(Optional.empty(), Optional.ofNullable(serial), usb);
    }

    @Test
    void theOnlyOneWithTheBoardsIds() {
        assertThat(by(null, STLINK).choose(List.of(MODEM, LEFT, BUILT_IN))).isEqualTo("/dev/ttyACM0");
        assertThat(by("066AFF", STLINK).choose(List.of(MODEM, LEFT, RIGHT))).isEqualTo("/dev/ttyACM1");
        assertThat(by("M1", List.of()).choose(List.of(MODEM, LEFT, RIGHT))).isEqualTo("/dev/ttyUSB0");
    }

    @Test
    void betweenTwoNothingIsGuessed() {
        assertThatThrownBy(() -> by(null, STLINK).choose(List.of(LEFT, RIGHT)))
                .hasMessageContaining("several serial ports")
                .hasMessageContaining("serial 0669FF")
                .hasMessageContaining("serial 066AFF")
                .hasMessageContaining("kiln.monitor.serial");
    }

    @Test
    void aPortThatNothingTiesToTheBoardIsNotTaken() {
        assertThatThrownBy(() -> by(null, STLINK).choose(List.of(MODEM)))
                .hasMessageContaining("no serial port has the USB ids 0483:374b, 0483:3752")
                .hasMessageContaining("/dev/ttyUSB0");
        assertThatThrownBy(() -> by(null, List.of()).choose(List.of(MODEM))).hasMessageContaining("kiln.monitor.port");
    }

    @Test
    void theNamedOneIsTakenAsItIs() {
        assertThat(new PortChoice(Optional.of("COM7"), Optional.empty(), STLINK).choose(List.of()))
                .isEqualTo("COM7");
    }
}
