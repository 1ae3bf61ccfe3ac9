// A matrix unit in SystemVerilog: d = c + the sum of four products of f16, all aligned to the largest
// exponent, truncated after 23 fraction bits, added exactly, and truncated to f32.
module unit (
    input  logic [3:0][15:0] a, b,  // packed: Verilator 5.006 misses changes of unpacked arrays
    input  logic [31:0] c,
    output logic [31:0] d
);
  localparam logic signed [11:0] None = -1000;  // exponent of zero

  always_comb begin
    logic [24:0] significand[5];  // 23 fraction bits
    logic signed [11:0] exponent[5], top, e;
    logic negative[5];
    logic nan, plus, minus;  // minus, plus: infinities
    logic signed [28:0] sum;
    logic [28:0] magnitude;
    {nan, plus, minus} = '0;
    top = None;
    for (int i = 0; i < 5; i++) begin
      if (i < 4) begin
        logic [15:0] x, y;  // Icarus 11 does not support a[i][14:10]
        logic infinite;
        x = a[i];
        y = b[i];
`ifdef FLUSH  // the bug in docs/rtl.md
        if (x[14:10] == 0) x[9:0] = 0;
`endif
        significand[i] = 25'({x[14:10] != 0, x[9:0]} * {y[14:10] != 0, y[9:0]}) << 3;
        exponent[i] = 12'(x[14:10]) + 12'(x[14:10] == 0) + 12'(y[14:10]) + 12'(y[14:10] == 0) - 12'd30;
        negative[i] = x[15] ^ y[15];
        infinite = x[14:0] == 15'h7c00 || y[14:0] == 15'h7c00;
        nan |= x[14:0] > 15'h7c00 || y[14:0] > 15'h7c00 || infinite && (x[14:0] == 0 || y[14:0] == 0);
        plus |= infinite && !negative[i];
        minus |= infinite && negative[i];
      end else begin
        significand[i] = 25'({c[30:23] != 0, c[22:0]});
        exponent[i] = 12'(c[30:23]) + 12'(c[30:23] == 0) - 12'd127;
        negative[i] = c[31];
        nan |= c[30:0] > 31'h7f800000;
        plus |= c == 32'h7f800000;
        minus |= c == 32'hff800000;
      end
      if (significand[i] == 0) exponent[i] = None;
      if (exponent[i] > top) top = exponent[i];
    end
    sum = 0;
    for (int i = 0; i < 5; i++) begin
      logic signed [28:0] cut;
      cut = 29'(significand[i]) >> (top - exponent[i]);
      sum += negative[i] ? -cut : cut;
    end
    magnitude = sum < 0 ? -sum : sum;
    e = top;  // exponent of bit 23 of the magnitude
    for (int i = 0; i < 5; i++) if (magnitude[28:24] != 0) begin magnitude >>= 1; e++; end
    for (int i = 0; i < 24; i++) if (!magnitude[23] && e > -126) begin magnitude <<= 1; e--; end
    for (int i = 0; i < 24; i++) if (e < -126) begin magnitude >>= 1; e++; end
    d = {sum < 0, magnitude[23] ? 8'(e + 12'd127) : 8'h0, magnitude[22:0]};
    if (e > 127) d = {sum < 0, 31'h7f800000};
    if (sum == 0) d = 0;
    if (plus) d = 32'h7f800000;
    if (minus) d = 32'hff800000;
    if (nan || plus && minus) d = 32'h7fffffff;
  end
endmodule

// Reads lines of mmadiff from stdin and writes their results to stdout:
//   $ verilator --binary -Wno-fatal --top-module lines unit.sv -o unit
//   $ ./mmadiff run --device='exec:obj_dir/unit,restart=never' --instr=sm_70/mma.m8n8k4.f32.f16.f16.f32
// With Icarus, which makes ./unit: iverilog -g2012 -s lines -o unit unit.sv
module lines;
  logic [3:0][15:0] a, b;
  logic [31:0] c, d, w[9];
  unit dut (.*);
  initial
    while ($fscanf(32'h8000_0000, "%h %h %h %h %h %h %h %h %h", w[0], w[1], w[2], w[3], w[4], w[5], w[6],
                   w[7], w[8]) == 9) begin
      for (int i = 0; i < 4; i++) begin a[i] = w[i][15:0]; b[i] = w[i+4][15:0]; end
      c = w[8];
      #1 $display("%h", d);
      $fflush(32'h8000_0001);
    end
endmodule
