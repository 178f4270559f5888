// SPDX-License-Identifier: Apache-2.0
/** What a worker of a farm does on its computer, and the broker that a team's farm has. */
package io.kiln.flow.worker;
