// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.BusFault;

/** The flash as memory: read directly, written through its controller. It is also mapped at address 0 for booting. */
final class FlashArray extends Region {
    static final int BASE = 0x08000000;

    private final FlashCells cells;
    private final FlashController controller;

    FlashArray(int base, FlashCells cells, FlashController controller) {
        super(base, cells.size());
        this.cells = cells;
        this.controller = controller;
    }

    @Override
    public int read(int address, int size) {
        int offset = offset(address);
        if (offset > cells.size() - size || controller.readProtected()) {
            throw new BusFault(address);
        }
        return cells.read(offset, size);
    }

    @Override
    public void write(int address, int size, int value) {
        controller.program(offset(address), size, value);
    }
}
