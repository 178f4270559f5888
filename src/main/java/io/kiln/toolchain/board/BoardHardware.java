// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import io.kiln.toolchain.board.Board.Console;
import java.util.List;
import java.util.Optional;

/**
 * How a board is reached, and what stands in for it.
 *
 * @param console the serial console of the image
 * @param timer what {@code TVMPlatformTimerStart} and {@code TVMPlatformTimerStop} count by; empty if the board has no timer
 * @param emulation what runs an image without the hardware
 * @param flashing what writes images to the hardware; empty if the board cannot be flashed
 * @param npu its Ethos-U, if it has one
 */
public record BoardHardware(
        Optional<Console> console,
        Optional<BoardTimer> timer,
        Emulation emulation,
        Optional<Flashing> flashing,
        Optional<BoardNpu> npu) {
    /** The same hardware with another emulation. */
    public BoardHardware with(Emulation other) {
        return new BoardHardware(console, timer, other, flashing, npu);
    }

    /** How OpenOCD reaches it, if it is what flashes the board. */
    Optional<Flashing.OpenOcd> openOcd() {
        return flashing.flatMap(how -> how instanceof Flashing.Programs programs
                ? programs.beside()
                : Optional.of(how).filter(Flashing.OpenOcd.class::isInstance).map(Flashing.OpenOcd.class::cast));
    }

    /** The programs that flash it beside or instead of OpenOCD. */
    List<Flashing.Program> programs() {
        return flashing.filter(Flashing.Programs.class::isInstance)
                .map(how -> ((Flashing.Programs) how).programs())
                .orElse(List.of());
    }

    /** The Project API server, if one flashes the board. */
    Optional<Flashing.Service> flashService() {
        return flashing.filter(Flashing.Service.class::isInstance).map(Flashing.Service.class::cast);
    }

    Optional<Flashing.ProjectApi> projectApi() {
        return flashing.filter(Flashing.ProjectApi.class::isInstance).map(Flashing.ProjectApi.class::cast);
    }
}
