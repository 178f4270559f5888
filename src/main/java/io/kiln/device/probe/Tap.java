// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/** One device in the chain: an instruction register, a shift register, and the IDCODE and BYPASS registers that every device has. */
class Tap {
    private final int irLength;
    private final int idCodeInstruction;
    private final int idCode;
    private int instruction;
    private long shift;
    private int length = 1;

    /**
     * A device in its reset state.
     *
     * @param irLength length of its instruction register in bits
     * @param idCodeInstruction the instruction that selects IDCODE; selected by reset
     * @param idCode the 32-bit identification
     */
    Tap(int irLength, int idCodeInstruction, int idCode) {
        this.irLength = irLength;
        this.idCodeInstruction = idCodeInstruction;
        this.idCode = idCode;
        this.instruction = idCodeInstruction;
    }

    /** Length in bits of the data register that an instruction selects; 1 means BYPASS. */
    int dataLength(int selected) {
        return 1;
    }

    /** The value captured by a data register other than IDCODE and BYPASS. */
    long captureData(int selected) {
        return 0;
    }

    /** Stores the value shifted into a data register other than IDCODE and BYPASS. */
    void updateData(int selected, long value) {}

    final void reset() {
        instruction = idCodeInstruction;
    }

    final void captureIr() {
        length = irLength;
        shift = 1;
    }

    final void updateIr() {
        instruction = (int) shift;
    }

    final void captureDr() {
        boolean identification = instruction == idCodeInstruction;
        length = identification ? 32 : dataLength(instruction);
        shift = identification ? idCode & 0xffffffffL : length == 1 ? 0 : captureData(instruction);
    }

    final void updateDr() {
        if (instruction != idCodeInstruction && dataLength(instruction) > 1) {
            updateData(instruction, shift);
        }
    }

    /** The bit that the next shift outputs. */
    final int output() {
        return (int) shift & 1;
    }

    /** Shifts by one bit; returns the bit shifted out. */
    final int shift(int in) {
        int out = (int) shift & 1;
        shift = shift >>> 1 | (long) in << (length - 1);
        return out;
    }
}
