// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

/** Waiting jobs between which the desk sees no difference. */
record Wait(String place, String board, String project, int priority, Labels needs) {
    static Wait of(Ticket ticket) {
        return new Wait(
                ticket.place(),
                ticket.board(),
                ticket.sort().project(),
                ticket.sort().priority(),
                ticket.sort().needs());
    }
}
