// SPDX-License-Identifier: Apache-2.0
package io.kiln.cycles.core;

import java.util.Optional;

/**
 * The cost of one kind of instruction.
 *
 * @param cycles until the next instruction can be issued
 * @param perWord further cycles for each word of a multiple load or store
 * @param behindAccess instead of {@code cycles}, right behind a load or store of one register that does not write its base back
 * @param taken further cycles if it branches; empty for those of the core
 * @param latency cycles until an instruction that reads the result can be issued, if they are more than {@code cycles}
 * @param busy cycles for which it occupies its unit, if they are more than {@code cycles}
 * @param unit the part of the core that executes it
 */
public record Price(
        CycleRange cycles,
        CycleRange perWord,
        Optional<CycleRange> behindAccess,
        Optional<CycleRange> taken,
        CycleRange latency,
        CycleRange busy,
        String unit) {}
