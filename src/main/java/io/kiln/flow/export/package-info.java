// SPDX-License-Identifier: Apache-2.0
/** What is made of models beside firmware: libraries for this computer. */
package io.kiln.flow.export;
