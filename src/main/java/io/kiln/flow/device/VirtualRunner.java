// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.base.Bytes;
import io.kiln.device.flash.FlashImage;
import io.kiln.device.flash.FlashProgress;
import io.kiln.device.flash.FlashResult;
import io.kiln.device.flash.FlashRunner;
import io.kiln.device.flash.Probe;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Flashes virtual boards: switches them on, writes them with the real tool through their virtual probes, and switches
 * them off.
 */
final class VirtualRunner implements FlashRunner {
    private final VirtualBoards boards;
    private final FlashRunner tool;

    private VirtualRunner(VirtualBoards boards, FlashRunner tool) {
        this.boards = boards;
        this.tool = tool;
    }

    /**
     * Switches boards on.
     *
     * @param boards closed with this runner
     * @param names the boards to switch on
     * @param faults faults to inject, see {@link BoardFaults}
     * @param tool creates the runner that writes through their probes
     */
    static VirtualRunner start(
            VirtualBoards boards,
            List<String> names,
            Optional<String> faults,
            Function<List<Probe>, FlashRunner> tool) {
        try {
            return new VirtualRunner(boards, tool.apply(boards.start(names, faults)));
        } catch (RuntimeException e) {
            boards.close();
            throw e;
        }
    }

    @Override
    public String tool() {
        return tool.tool();
    }

    @Override
    public List<Probe> probes() {
        return tool.probes();
    }

    @Override
    public FlashResult flash(Probe probe, FlashImage image, FlashProgress progress) {
        return tool.flash(probe, image, progress);
    }

    @Override
    public List<Bytes> read(Probe probe, List<Range> ranges) {
        return tool.read(probe, ranges);
    }

    @Override
    public void close() {
        try (boards) {
            tool.close();
        }
    }
}
