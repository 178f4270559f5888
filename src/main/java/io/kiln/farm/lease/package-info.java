// SPDX-License-Identifier: Apache-2.0
/** Which worker of this computer has a board. */
package io.kiln.farm.lease;
